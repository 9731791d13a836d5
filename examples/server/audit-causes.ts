// What the cases that failed have in common, so that an endpoint by hand is told its five faults, not its eighty cases.
import type { Received } from './audit-trial.js';

/** A case that failed. */
export interface Failure {
  readonly id: string;
  /** What differs, as `hostCases` says it. */
  readonly fault: string;
  readonly received: Received | undefined;
}

/** A cause for each range of cases whose status was wrong. The first that fits counts. */
const causes: readonly [cases: RegExp, cause: string][] = [
  [
    /^(neighbours|id-unsafe|id-int64-(max|min)(?!-(plus|minus|and))|id-taken-beyond|id-ten-to-18)/,
    'ids beyond 2^53 are rounded or rejected',
  ],
  [/^id-(string|true|null|array|object)/, 'an id that is no number is converted'],
  [/^id-taken/, 'an id is created twice, or is not a 400'],
  [
    /^id-(zero|minus-(zero|one)|one(-point|$)|exponent|safe|million-zeros)/,
    'integers in other notations, such as 1.0 and 1e3, are rejected',
  ],
  [/^id/, 'ids that are no int64, such as 1.5 and 2^63, are accepted or not a 400'],
  [/^twice/, 'a member that is given twice is accepted'],
  [
    /^plant-.*(surrogate|nul)/,
    'texts that not every database stores, with U+0000 or lone surrogates, are accepted',
  ],
  [/^plant/, 'plants with wrong members are accepted or not a 400'],
  [/^utf/, 'bodies that are not UTF-8 are accepted or not a 400'],
  [/^json/, 'bodies that are not JSON are accepted or not a 400'],
  [/^(token|scope|order-token|order-verified)/, 'tokens are not checked as RFC 6750 says'],
  [/^(type|encoding|order-type)/, 'media types and encodings are not checked as RFC 9110 says'],
  [/^(size|create-at-limit|order-length)/, 'the limit of a body is not 1 MiB'],
  [/^(path|method|query|order-path|order-method)/, 'other paths and methods'],
  [/^upload/, 'uploads that break off'],
];

/** Says how many of the cases failed for each cause, the largest first. */
export function summaryOf(failures: readonly Failure[]): string[] {
  const counts = new Map<string, number>();
  for (const failure of failures) {
    const cause = causeOf(failure);
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([cause, count]) => `${cause}: ${count} ${count === 1 ? 'case' : 'cases'}`);
}

function causeOf({ id, fault, received }: Failure): string {
  if (!received) return 'no response';
  const { status } = received;
  const cause = causes.find(([cases]) => cases.test(id))?.[1] ?? 'plants that are valid';
  // Ids, whatever came of it: a number that the database does not take is the same fault as one that was rounded.
  if (/^(the request before|status)/.test(fault) && causes[0]![0].test(id)) return cause;
  if (status >= 500) return `the response is ${status}`;
  if (/^status is 4\d\d, and must be 4/.test(fault)) return `what must be a ${wanted(fault)} is a ${status}`;
  if (/^status/.test(fault) || /^the request before/.test(fault)) return cause;
  if (/^the scheme of www-auth|^www-auth/.test(fault))
    return 'a 401 has no challenge (WWW-Authenticate: Bearer)';
  if (status < 300) return 'the plant of a 200 is not { name, tag? } as application/json';
  return 'an Error is not { error: int32, message: string } as application/json';
}

const wanted = (fault: string) => /must be (\d+)/.exec(fault)![1];
