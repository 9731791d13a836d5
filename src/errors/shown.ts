import { adviceOn } from './advice.js';
import { withCauses } from './causes.js';
import { knownCodeIn } from './codes.js';
import { classOf } from './inspect.js';
import type { ErrorNumber } from './numbers.js';
import { ownWordsOf, wordsBeforeOf } from './own-words.js';
import { isNamed } from './problems.js';
import { propertyOf } from './property-of.js';

/** Who was at work, by the code of the response. Of all others it was the storage. */
const parties: Partial<Record<ErrorNumber, string>> = {
  50000: 'the guarded handler',
  50002: 'verifyToken',
  50003: 'whoever reads the body',
};

const hint =
  'verifyToken must return null for an invalid token, and throw only if it could not check the token';
const noTexts = 'Its text may quote the request and is left out; onError: logWithMessages shows it';

/** The most errors of a chain that a line has. */
const mostParts = 5;

/** What a line says of an error, and of what it wraps. */
interface Said {
  readonly text: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
  /** Whether all of it is plant-store's own. */
  readonly isOwn: boolean;
}

/**
 * Says what an error is: plant-store's own words as they are, and of everybody else the class, the code and the fields that databases
 * document. Never a text, which may quote the request.
 *
 * @param code of the response: it names the party that was at work
 */
export function describe(error: unknown, code?: ErrorNumber): string {
  const { text, advice, isOwn } = saidOf(error, code);
  const isThrown = code !== undefined && (ownWordsOf(error) ?? wordsBeforeOf(error)) === undefined;
  const said = isThrown ? `${parties[code] ?? 'the storage'} threw ${text}` : text;
  return [said, advice, isThrown && code === 50002 && hint, !isOwn && noTexts].filter(Boolean).join('. ');
}

function saidOf(error: unknown, code: ErrorNumber | undefined, depth = 1): Said {
  const words = ownWordsOf(error);
  if (words === undefined) return saidOfForeign(error, code);
  const cause = propertyOf(error, 'cause');
  if (cause === undefined || depth === mostParts) return { text: words, isOwn: true };
  const { text, advice, isOwn } = saidOf(cause, code, depth + 1);
  return {
    text: text.startsWith(words) ? text : `${words}: ${text}`,
    // The remedy of plant-store's own is about this very table.
    advice: isNamed(error, 'SetupError') ? undefined : advice,
    isOwn,
  };
}

/** What was said of an error that is not plant-store's: an outage ends thousands of creates with one. */
const described = new WeakMap<object, { readonly code: ErrorNumber | undefined; readonly said: Said }>();

function saidOfForeign(error: unknown, code: ErrorNumber | undefined): Said {
  if (Object(error) !== error || typeof error === 'function')
    return { text: error == null ? String(error) : `a ${typeof error}`, isOwn: true };
  const before = described.get(error as object);
  if (before && before.code === code) return before.said;
  const texts: string[] = [];
  let advice: string | undefined;
  for (const each of withCauses(error)) {
    const shown = knownCodeIn(each);
    const text = ownWordsOf(each) ?? foreignText(each, shown, code);
    // Libraries keep the error of their driver in a plain object.
    const isNew = text !== texts.at(-1) && (text !== 'Object' || texts.length === 0);
    if (isNew && texts.length < mostParts) texts.push(text);
    advice ??= shown && adviceOn(shown);
  }
  const said = { text: texts.join(': '), advice, isOwn: false };
  described.set(error as object, { code, said });
  return said;
}

/** Of an error of somebody else: its class, its code, and what its driver documents beside it. */
function foreignText(error: object, shown: string | undefined, code: ErrorNumber | undefined): string {
  const hasCode = ['code', 'errno'].some((member) => /string|number/.test(typeof propertyOf(error, member)));
  const isOfStorage = code !== undefined && parties[code] === undefined;
  const before = wordsBeforeOf(error);
  const unknown = hasCode ? ' with a code that plant-store does not know' : '';
  return [
    `${before ? `${before}: ` : ''}${classOf(error)}${shown ? ` ${shown}` : unknown}`,
    ...(/^\w{5} /.test(shown ?? '') ? schemaFields(error) : []),
    ...(shown && isOfStorage ? addressOf(error) : []),
    // PostgreSQL's context of an error: mostly a function, and for a lock a row.
    ...(propertyOf(error, 'severity') && propertyOf(error, 'where')
      ? ['with a context, such as a function or trigger of the app']
      : []),
  ].join(', ');
}

/** The names that PostgreSQL sends beside a SQLSTATE: as `pg`, PGlite and Bun, and as postgres.js call them. */
function schemaFields(error: object): string[] {
  return ['schema', 'table', 'column', 'dataType', 'constraint'].flatMap((field) => {
    const name = propertyOf(error, field) || propertyOf(error, `${field}_name`);
    return typeof name === 'string' ? `${field} ${name.slice(0, 64)}` : [];
  });
}

/** What the system could not connect to, as far as it is digits. Of a host with several addresses, each has an error of its own. */
function addressOf(error: object): string[] {
  const source = propertyOf(propertyOf(error, 'errors'), '0') ?? error;
  const [address, port] = ['address', 'port'].map((member) => propertyOf(source, member));
  const isShown = typeof address === 'string' && isIp.test(address) && isPort(port);
  return isShown ? [`${address} port ${port}`] : [];
}

const isIp = /^(\d{1,3}(\.\d{1,3}){3}|[\da-f]{0,4}(:[\da-f]{0,4}){2,7})$/i;
const isPort = (value: unknown) => Number.isInteger(value) && Number(value) < 65_536;
