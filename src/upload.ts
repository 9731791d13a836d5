import { isBytes } from './http.js';

// Kept from when this module loads, because an app's tests may put fake timers in their place.
const { setTimeout, clearTimeout, setImmediate = setTimeout } = globalThis;

/** What is used of an AsyncIterator. */
interface Chunks {
  next(): PromiseLike<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  return?(): unknown;
}

/** A body that comes in chunks. */
export class Upload {
  readonly #chunks: Chunks;
  #isOver = false;
  #isUnwanted = false;

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  /** The whole body, of at most `limit` bytes. */
  async read(limit: number): Promise<Uint8Array> {
    const chunks = new ChunkCollector(limit);
    while (!this.#isUnwanted) {
      const { done, value } = await this.#next();
      if (done) break;
      chunks.add(value);
    }
    return chunks.join();
  }

  /**
   * Reads on and keeps nothing. Otherwise a client that writes before it reads would not see its answer, and a stream
   * that is left half read would block the next request on its connection. Stops after 64 MiB, and after 500 ms without
   * progress. Resolves with whether it came to the end; never rejects.
   */
  async discard(): Promise<boolean> {
    this.#isUnwanted = true;
    try {
      for (let left = discardLimit; left >= 0 && !this.#isOver; ) {
        const result = await within(lingerMs, this.#next());
        if (!result) break;
        // At least 1 KiB each, so that empty chunks without end come to an end too.
        left -= Math.max(2 ** 10, (result.value as ArrayLike<unknown> | undefined)?.length ?? 0);
        // Otherwise Node would read up to 2 MiB of one upload before it turns to the next connection. The clock's
        // `atEndOfTurn` would do too, and would weigh 180 bytes more where there is no group commit.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch {
      // The client has gone, and its upload with it.
    }
    const isRead = this.#isOver;
    // Not awaited: a generator that waits for its own source returns only after that.
    this.stop();
    return isRead;
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
      this.#isOver ||= result.done === true;
      return result;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }
}

const discardLimit = 64 * 2 ** 20;
/** How long a refused client may go without progress, and may take to read its answer: milliseconds. */
export const lingerMs = 500;

/** Resolves after `ms` milliseconds. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Settles as `work` does, or with `undefined` after `ms` milliseconds. */
function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

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
