// The ids of an audit. The published cases create plants 1 to 1000; a running endpoint has plants of its own there.

/** The ids that only themselves can test: zero in its notations, 2^53 and its neighbours, and the ends of int64. */
export const neededIds: readonly bigint[] = [
  0n,
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n],
  ...[10n ** 18n, 2n ** 63n - 1n, -(2n ** 63n)],
];

/** A case whose notation allows no other id than 1. */
export const needsIdOne = 'id-million-zeros-before';

const needing = /^(id-(minus-)?zero|id-(un)?safe|id-int64|id-ten-to-18$|neighbours|id-taken-beyond)/;

/** The member `id` of a body in UTF-8, also if its name has escapes, before its digits. */
const member = /("(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*-?)(?=[1-9])/g;

/** Writes a prefix before the digits of each id in the body of a case: 1.25e2 becomes 3000000001.25e2. */
export function moved(caseId: string, body: Uint8Array, prefix: string): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(body).toString('latin1');
  let result = needing.test(caseId) ? text : text.replace(member, (found) => found + prefix);
  // A body of exactly 1 MiB ends with spaces, and keeps its length.
  const excess = ' '.repeat(result.length - text.length);
  if (text.length > 1_000_000 && result.endsWith(excess)) result = result.slice(0, text.length);
  return new Uint8Array(Buffer.from(result, 'latin1'));
}

/** The integer that a body has as its id, in any notation; `undefined` if it has none. */
export function idIn(body: Uint8Array): bigint | undefined {
  const notation = /"id":(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?[,}]/i;
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    notation.exec(Buffer.from(body).toString('latin1')) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (sign === undefined || digits.length > 100) return undefined;
  if (!digits) return 0n;
  const zeros = Number(exponent) - fraction.length;
  // Zeros may be cut off behind the point, and nothing else.
  if (zeros > 20 || (zeros < 0 && /[1-9]/.test(digits.slice(zeros)))) return undefined;
  const size = BigInt(zeros < 0 ? digits.slice(0, zeros) || 0 : digits + '0'.repeat(zeros));
  return sign ? -size : size;
}
