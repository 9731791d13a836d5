import { describeError } from 'plant-store';

/** What went wrong, in a sentence of this program: its lines show no other text. */
export class CliError extends Error {}

/** An error in one line: of an error of somebody else, such as a driver, only what it is. */
export function sentenceOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  return describeError(error).replace(/\. Its text may quote .*$/, '');
}
