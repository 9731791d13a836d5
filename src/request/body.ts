import { Refusal, tooLarge } from '../errors/problems.js';
import { BodyError, type Content, type Json, type MaybePromise, type PlantRequest } from '../http.js';
import type { Progress } from './progress.js';
import { Upload } from './upload.js';

/**
 * Reads the body, in whichever of its forms it is. Fails as a `ReadBody` does.
 *
 * @param progress is told of a stream what to do with it if the request fails
 */
export function readBody(
  body: PlantRequest['body'],
  limit: number,
  progress: Pick<Progress<unknown>, 'onFailure'>,
): MaybePromise<Content> {
  if (typeof body === 'function') return body(limit);
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return body ?? '';
  const upload = new Upload(body[Symbol.asyncIterator]());
  // Cancelling a socket's stream, Node's or the web's, destroys the connection before the response is sent: drain it first.
  const isConnection = 'pipe' in body || 'getReader' in body;
  progress.onFailure(async (ms) => {
    // The app sends its response only now.
    if (isConnection) await upload.skipRest(ms);
    upload.stop();
  });
  return upload.read(new ChunkCollector(limit));
}

/** Collects the chunks of a body, up to `limit` bytes. */
export class ChunkCollector {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(readonly limit: number) {}

  /** @throws {BodyError} if the chunk exceeds the limit, or is not bytes: only bytes can be counted against the limit. */
  add(chunk: unknown): void {
    const { buffer, byteOffset, byteLength } = checkBytes(chunk, this.limit - this.#length);
    this.#length += byteLength;
    // A view, because a DataView or a Uint16Array would be joined element by element, not byte by byte.
    this.#chunks.push(new Uint8Array(buffer, byteOffset, byteLength));
  }

  join(): Uint8Array {
    // Usually there is one, which need not be copied.
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

/** Whether a value is bytes. Not `instanceof`: a Buffer from another realm is no instance of this realm's `Uint8Array`. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value);
}

/** Returns bytes, at most `limit` of them. Anything else is the host's fault, not the client's. */
function checkBytes(value: unknown, limit: number): Uint8Array {
  if (!isBytes(value)) throw new BodyError('body_unreadable', 'the body must be bytes');
  if (value.byteLength > limit) throw new BodyError('body_too_large');
  return value;
}

// `fatal`: otherwise an invalid byte would be stored as U+FFFD. The decoder also removes one leading BOM.
const utf8 = new TextDecoder('utf-8', { fatal: true });
// Faster on some runtimes. It puts U+FFFD for an invalid byte, which a valid text may hold too: then the other one decides.
const lossy = new TextDecoder();

/** Decodes a body of at most `limit` bytes: the text without a byte order mark, or the parsed value as it is. */
export function decodeBody(content: Content, limit: number): Json {
  if (typeof content === 'string') {
    // A UTF-16 unit is 1 to 3 bytes of UTF-8: encode only if the length alone cannot decide.
    const mayExceed = content.length * 3 > limit;
    if (mayExceed && new TextEncoder().encode(content).length > limit) throw tooLarge(limit);
    return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content;
  }
  if (typeof content === 'object' && !isBytes(content) && 'parsed' in content) {
    // The size of a parsed body is unknown, but it is no smaller than the texts in it.
    const texts = Object.values(content.parsed ?? {}).filter((value) => typeof value === 'string');
    if (texts.join('').length > limit) throw tooLarge(limit);
    return content;
  }
  const bytes = checkBytes(content, limit);
  try {
    const text = lossy.decode(bytes);
    return text.includes('\ufffd') ? utf8.decode(bytes) : text;
  } catch {
    throw new Refusal('body_not_json');
  }
}
