import { endOfTurn, keepAliveUntil, sleep } from '../timers.js';

/** The part of an AsyncIterator that an upload uses. */
interface Chunks {
  next(): PromiseLike<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  return?(): unknown;
}

/** How long a refused client may go without progress: milliseconds. */
export const stallMs = 500;

const pollMs = stallMs / 5;

/** Leaves a refused client some time to read its response, before its connection is closed. */
export function linger(): Promise<void> {
  return keepAliveUntil(sleep(stallMs));
}

/** A body that comes in chunks. */
export class Upload {
  #isOver = false;
  #isEnded = false;
  #isUnwanted = false;
  /** Bytes that may still be discarded. */
  #left = 64 * 2 ** 20;

  constructor(readonly source: Chunks) {}

  /** Collects the chunks, to the end of the upload, or until it is discarded or stopped. */
  async read(chunks: { add(chunk: unknown): void; join(): Uint8Array }): Promise<Uint8Array> {
    for (let count = 1; !this.#isUnwanted; count++) {
      const { done, value } = await this.#next();
      if (done) break;
      chunks.add(value);
      // Yields: an endless run of ready chunks would block the event loop.
      if (count % 64 === 0) await endOfTurn();
    }
    return chunks.join();
  }

  /**
   * Reads on and keeps nothing. Otherwise a client that writes before it reads would not see its response, and a stream
   * that is left half read would block the next request on its connection. Stops after 64 MiB, after 500 ms without progress,
   * and after `ms` milliseconds in all: a client could otherwise hold its request open by a byte at a time. Resolves with
   * whether it came to the end, and leaves it to the caller to stop one that did not; never rejects.
   */
  async discard(ms: number): Promise<boolean> {
    this.#isUnwanted = true;
    await keepAliveUntil(Promise.race([this.#skip(), this.#stall(ms)]));
    this.#left = -1;
    return this.#isEnded;
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

  /** Resolves after `stallMs` without progress, and after `ms` milliseconds in all. */
  async #stall(ms: number): Promise<void> {
    for (let quiet = 0, rest = ms; quiet < 5 && rest > 0 && !this.#isOver; rest -= pollMs) {
      const left = this.#left;
      await sleep(Math.ceil(Math.min(pollMs, rest)));
      quiet = left === this.#left ? quiet + 1 : 0;
    }
  }

  /** Stops reading and closes the source. */
  async stop(): Promise<void> {
    this.#isUnwanted = true;
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.source.return?.();
    } catch {}
  }

  async #next() {
    try {
      const result = await this.source.next();
      if (result.done) this.#isOver = this.#isEnded = true;
      return result;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }
}
