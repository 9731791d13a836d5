import { header, type MaybePromise, type PlantHeaders, type PlantRequest } from './http.js';
import { isNamed, Refusal } from './problems.js';

/** A body as it arrived, before it is text. */
export type Content = string | Uint8Array | { readonly parsed: unknown };

/**
 * Thrown by a `ReadBody`: says what became of the body.
 *
 * @example
 * ```ts
 * import { readFile, stat } from 'node:fs/promises';
 *
 * const spool = 'body.json';
 * const body: ReadBody = async (limit) => {
 *   if ((await stat(spool)).size > limit) throw new BodyError('body_too_large');
 *   return readFile(spool);
 * };
 * ```
 */
export class BodyError extends Error {
  override readonly name = 'BodyError';

  /** @param message for `onError`, never for the client; for `body_unreadable` say which line to move */
  constructor(
    readonly problem: 'body_too_large' | 'body_incomplete' | 'body_unreadable',
    message: string = problem,
  ) {
    super(message);
  }
}

/** Parameters say nothing here: JSON has no charset (RFC 8259 §11). */
const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** Refuses what is not plain JSON, or declares more than `limit` bytes, before a byte of the body is read. */
export function checkBodyHeaders(headers: PlantHeaders, limit: number): void {
  const type = String(header(headers, 'content-type') || 'none');
  const encoding = String(header(headers, 'content-encoding') || 'identity');
  if (!jsonType.test(type) || !/^ *identity *$/i.test(encoding)) {
    const came = `Content-Type: ${type}, Content-Encoding: ${encoding}`;
    throw new Refusal('media_type_unsupported', {
      message: `Send application/json, unencoded; not ${came}.`,
    });
  }
  if (Number(header(headers, 'content-length')) > limit) throw tooLarge(limit);
}

function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', { message: `The body is larger than ${limit} bytes.` });
}

/** The body in whatever form it comes first; rejects as a `ReadBody` does. */
export function readBody(body: PlantRequest['body'], limit: number): MaybePromise<Content> {
  if (typeof body === 'function') return body(limit);
  if (body === null || body === undefined) return '';
  if (typeof body === 'object' && Symbol.asyncIterator in body) return collect(body, limit);
  return body;
}

async function collect(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    // Of a string the length is not known in bytes, and a limit that cannot be counted is none.
    if (!ArrayBuffer.isView(chunk)) throw new BodyError('body_unreadable', 'the body stream gave no bytes');
    length += chunk.byteLength;
    if (length > limit) throw new BodyError('body_too_large');
    chunks.push(chunk);
  }
  return concat(chunks, length);
}

/** One run of bytes from chunks that hold `length` of them in all. */
export function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** What a failed read means to the client. */
export function bodyRefusal(error: unknown, limit: number): Refusal {
  const problem = isNamed<BodyError>(error, 'BodyError') ? error.problem : 'body_unreadable';
  if (problem === 'body_too_large') return tooLarge(limit);
  if (problem === 'body_incomplete') return new Refusal(problem);
  return new Refusal('body_unreadable', { cause: error });
}

// Strict: a replaced byte would be stored as if the client had sent U+FFFD. Takes one leading BOM away.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body: at most `limit` bytes of UTF-8, without a byte order mark. */
export function textOf(content: string | Uint8Array, limit: number): string {
  if (typeof content === 'string') {
    // A UTF-16 unit becomes one to three bytes: only what lies between has to be encoded to be measured.
    const { length } = content;
    if (length > limit || (length * 3 > limit && new TextEncoder().encode(content).byteLength > limit)) {
      throw tooLarge(limit);
    }
    return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content;
  }
  if (content.byteLength > limit) throw tooLarge(limit);
  try {
    return utf8.decode(content);
  } catch {
    throw new Refusal('body_not_json');
  }
}
