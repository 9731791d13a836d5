import { isBytes } from './http.js';
import { endOfTurn, wait } from './timers.js';

/** The part of an AsyncIterator that an upload uses. */
interface Chunks {
  next(): PromiseLike<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  return?(): unknown;
}

/** A body that comes in chunks. */
export class Upload {
  readonly #chunks: Chunks;
  #isOver = false;
  #isEnded = false;
  #isUnwanted = false;
  /** How much of it to discard at most: bytes. */
  #left = 64 * 2 ** 20;

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  /** The whole body, of at most `limit` bytes. */
  async read(limit: number): Promise<Uint8Array> {
    const chunks = new ChunkCollector(limit);
    for (let count = 1; !this.#isUnwanted; count++) {
      const { done, value } = await this.#next();
      if (done) break;
      chunks.add(value);
      // Otherwise chunks that are there at once, such as empty ones without end, would block the process.
      if (count % 64 === 0) await endOfTurn();
    }
    return chunks.join();
  }

  /**
   * Reads on and keeps nothing. Otherwise a client that writes before it reads would not see its response, and a stream
   * that is left half read would block the next request on its connection. Stops after 64 MiB, and after 500 ms without
   * progress. Resolves with whether it came to the end; never rejects.
   */
  async discard(): Promise<boolean> {
    this.#isUnwanted = true;
    await Promise.race([this.#skip(), this.#stall()]);
    const isRead = this.#isEnded;
    // Not awaited: a generator blocked on its source settles `return()` only when the source does.
    this.stop();
    return isRead;
  }

  async #skip(): Promise<void> {
    try {
      while (this.#left >= 0 && !this.#isOver) {
        const { value } = await this.#next();
        // At least 1 KiB each, so that endless empty chunks reach the limit too.
        this.#left -= Math.max(2 ** 10, (value as ArrayLike<unknown> | undefined)?.length ?? 0);
        // Otherwise Node would read up to 2 MiB of one upload before it turns to the next connection.
        await endOfTurn();
      }
    } catch {
      // The client has disconnected, or the host has cut the upload.
    }
  }

  /** Resolves after `lingerMs` without progress. */
  async #stall(): Promise<void> {
    let left: number | undefined;
    for (let quiet = 0; quiet < 5 && !this.#isOver; quiet++) {
      if (left !== this.#left) quiet = 0;
      left = this.#left;
      await wait(lingerMs / 5);
    }
  }

  /** Reads no more, and tells the source so. */
  async stop(): Promise<void> {
    this.#isUnwanted = true;
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#chunks.return?.();
    } catch {}
  }

  async #next() {
    try {
      const result = await this.#chunks.next();
      if (result.done) this.#isOver = this.#isEnded = true;
      return result;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }
}

/** How long a refused client may go without progress, and may take to read its response: milliseconds. */
export const lingerMs = 500;

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

/** Bytes, at most `limit` of them. Anything else is the host's fault, not the client's. */
export function bytesOf(value: unknown, limit: number): Uint8Array {
  if (!isBytes(value)) throw new BodyError('body_unreadable', 'the body must be bytes');
  if (value.byteLength > limit) throw new BodyError('body_too_large');
  return value;
}

/** Collects the chunks of a body, up to `limit` bytes. */
export class ChunkCollector {
  readonly #chunks: Uint8Array[] = [];
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws {BodyError} if the chunk is over the limit, or is no bytes: only bytes can be counted against the limit. */
  add(chunk: unknown): void {
    const { buffer, byteOffset, byteLength } = bytesOf(chunk, this.#limit - this.#length);
    this.#length += byteLength;
    // A view, because a DataView or a Uint16Array would be joined element by element, not byte by byte.
    this.#chunks.push(new Uint8Array(buffer, byteOffset, byteLength));
  }

  join(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return whole;
  }
}
