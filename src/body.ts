import { header, isBytes, type MaybePromise, type PlantHeaders, type PlantRequest } from './http.js';
import { problems, Refusal } from './problems.js';

/** A body as it arrived, before it is text. */
export type Content = string | Uint8Array | { readonly parsed: unknown };

/**
 * Thrown by a `ReadBody`: says what happened to the body.
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

  /** @param message for `onError` only. For `body_unreadable` it names the line of the app to change. */
  constructor(
    readonly problem: 'body_too_large' | 'body_incomplete' | 'body_unreadable',
    message: string = problem,
  ) {
    super(message);
  }
}

/** Parameters are ignored: JSON has no charset (RFC 8259 §11). */
const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** What may be quoted back to the client: a media type or a list of codings, not whatever else came in its place. */
const quotable = /^[\w!#$&^.+-]+([/,] ?[\w!#$&^.+-]+)*$/;

/** Refuses a body that is not plain JSON, or that declares more than `limit` bytes, before any of it is read. */
export function checkBodyHeaders(headers: PlantHeaders, limit: number): void {
  const type = String(header(headers, 'content-type') ?? '');
  if (!jsonType.test(type)) throw unsupported('Content-Type', type.replace(/;.*/s, ''));
  const encoding = String(header(headers, 'content-encoding') || 'identity');
  if (!/^ *identity *$/i.test(encoding)) throw unsupported('Content-Encoding', encoding);
  if (Number(header(headers, 'content-length')) > limit) throw tooLarge(limit);
}

function unsupported(name: string, value: string): Refusal {
  const received = value.trim();
  const isQuotable = received.length <= 100 && quotable.test(received);
  const problem = isQuotable ? `The ${name} is ${received}.` : `The request has no usable ${name}.`;
  return new Refusal('media_type_unsupported', {
    message: `${problems.media_type_unsupported[1]} ${problem}`,
  });
}

export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', { message: `The body is larger than ${limit} bytes.` });
}

/** Reads the body, in whichever of its forms it is. Fails as a `ReadBody` does. */
export function readBody(body: PlantRequest['body'], limit: number): MaybePromise<Content> {
  if (typeof body === 'function') return body(limit);
  if (body === null || body === undefined) return '';
  if (typeof body === 'object' && Symbol.asyncIterator in body) return readChunks(body, limit);
  return body;
}

async function readChunks(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const gathered = new Gathered(limit);
  for await (const chunk of stream) gathered.add(chunk);
  return gathered.join();
}

/** The one gatherer of a body's chunks, at most `limit` bytes of them. */
export class Gathered {
  readonly #chunks: Uint8Array[] = [];
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws {BodyError} if the chunk is over the limit, or is no bytes: only bytes can be counted against the limit. */
  add(chunk: unknown): void {
    if (!isBytes(chunk))
      throw new BodyError('body_unreadable', 'the body stream gave a chunk that is no bytes');
    this.#length += chunk.byteLength;
    if (this.#length > this.#limit) throw new BodyError('body_too_large');
    // A DataView or a Uint16Array would be joined element by element, not byte by byte.
    const isOctets = chunk.BYTES_PER_ELEMENT === 1;
    this.#chunks.push(isOctets ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }

  join(): Uint8Array {
    if (this.#chunks.length === 1) return this.#chunks[0]!;
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return whole;
  }
}

// `fatal`: else an invalid byte would be stored as U+FFFD. The decoder also removes one leading BOM.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body: at most `limit` bytes of UTF-8, without a byte order mark. */
export function textOf(content: string | Uint8Array, limit: number): string {
  if (typeof content === 'string') {
    // A UTF-16 unit is 1 to 3 bytes of UTF-8: encode only if the length alone cannot decide.
    const { length } = content;
    if (length > limit || (length * 3 > limit && new TextEncoder().encode(content).byteLength > limit)) {
      throw tooLarge(limit);
    }
    return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content;
  }
  // An unknown kind of body is the host's fault, not the client's.
  if (!isBytes(content)) throw new BodyError('body_unreadable', 'the body is no PlantBody');
  if (content.byteLength > limit) throw tooLarge(limit);
  try {
    return utf8.decode(content);
  } catch {
    throw new Refusal('body_not_json');
  }
}
