import type { ErrorNumber } from './numbers.js';
import { ownWordsOf } from './own-words.js';
import { isFaultOfProgram } from './problems.js';
import { propertyOf } from './property-of.js';

/** The most frames of a fault that are written. */
const mostFrames = 5;

/**
 * Returns where a fault of a program was thrown, and where in the app what `verifyToken` or a guarded handler threw: places in files,
 * and no names of functions, which a program may make of a request.
 */
export function framesOf(error: unknown, code: ErrorNumber): string[] {
  const fault = [error, propertyOf(error, 'cause')].find(isFaultOfProgram);
  if (fault) return placesIn(fault).slice(0, mostFrames);
  const isOfApp = (code === 50000 || code === 50002) && ownWordsOf(error) === undefined;
  return isOfApp
    ? placesIn(error)
        .filter((each) => !/node_modules|node:/.test(each))
        .slice(0, 1)
    : [];
}

/** The places in a stack, below a first line that is a name and the message: otherwise a message may look like frames. */
function placesIn(error: unknown): string[] {
  if (!isError(error)) return [];
  const [message, stack] = ['message', 'stack'].map((member) => propertyOf(error, member));
  if (typeof message !== 'string' || typeof stack !== 'string') return [];
  const [first, ...rest] = stack.split(`${message}\n`);
  if (!/^\w+(: )?$/.test(first!)) return [];
  return Array.from(rest.join('').matchAll(place), ([, found]) => `    at ${found}`);
}

/** Not what only looks like an error, and may have any text as its stack. */
function isError(value: unknown): boolean {
  try {
    return Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    // A Proxy that is revoked.
    return false;
  }
}

/** A line of a stack as V8 writes it. Group 1 is the file, the line and the column. */
const place = /^ {4}at (?:async )?(?:.*\()?((?:file:\/\/|node:|\/|[A-Za-z]:[\\/])[^()\n]+:\d+:\d+)\)?$/gm;
