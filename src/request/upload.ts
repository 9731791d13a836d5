import { isWorkers, keepAliveUntil, nextIteration, now, sleep } from '../timers.js';

/** The part of an AsyncIterator that an upload uses. */
interface Chunks {
  next(): PromiseLike<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  return?(): unknown;
}

/** How long a refused client may go without progress: milliseconds. */
export const stallMs = 500;

/** How long the rest of an upload may be drained if the request has no time limit: milliseconds. */
export const defaultDrainMs = 5_000;

const pollMs = stallMs / 5;

/** A body that comes in chunks. */
export class Upload {
  #isOver = false;
  #isEnded = false;
  #isUnwanted = false;
  /** Bytes that may still be discarded, and until when. */
  #left = 16 * 2 ** 20;
  #endsAt = 0;
  #skipping: Promise<void> | undefined;

  constructor(readonly source: Chunks) {}

  /** Collects the chunks, to the end of the upload, or until it is discarded or stopped. */
  async read(chunks: { add(chunk: unknown): void; join(): Uint8Array }): Promise<Uint8Array> {
    for (let count = 1; !this.#isUnwanted; count++) {
      const { done, value } = await this.#next();
      if (done) break;
      chunks.add(value);
      // Yields: an endless run of ready chunks would block the event loop.
      if (count % 64 === 0) await nextIteration();
    }
    return chunks.join();
  }

  /**
   * Reads what comes within 500 ms and 16 MiB, and keeps nothing. To be awaited before the response is sent, because many clients and
   * proxies lose a response that comes while they still write, and their connection with it.
   *
   * @param ms what is left of the request's time
   * @returns whether the upload has ended; never rejects
   */
  async skipFirst(ms: number): Promise<boolean> {
    this.#endsAt = now() + ms;
    await keepAliveUntil(Promise.race([this.#skip(), sleep(Math.ceil(Math.min(ms, stallMs)))]));
    return this.#isEnded;
  }

  /**
   * Reads the rest after the response, and keeps nothing: a client that writes before it reads would not see its response, and a stream
   * that is left half read would block the next request on its connection. Ends with the upload, or else after 500 ms without
   * progress, which is also how long a client has to read its response when 16 MiB were read in all; and with the request's time,
   * because a client could hold its connection open by a byte at a time.
   *
   * @param ms what is left of that time
   * @returns whether the upload has ended: the caller stops one that has not; never rejects
   */
  async skipRest(ms = this.#endsAt - now()): Promise<boolean> {
    // After a timeout nothing is left, but the client still has to read its response.
    const stalled = this.#stall(Math.max(ms, stallMs));
    await keepAliveUntil(
      Promise.race([this.#skip().then(() => (this.#isEnded ? undefined : stalled)), stalled]),
    );
    // Ends the reading of what nobody waits for any more.
    this.#left = -1;
    return this.#isEnded;
  }

  #skip(): Promise<void> {
    this.#isUnwanted = true;
    this.#skipping ??= this.#skipAll();
    return this.#skipping;
  }

  async #skipAll(): Promise<void> {
    try {
      while (this.#left >= 0 && !this.#isOver) {
        const { value } = await this.#next();
        // At least 1 KiB each, so that endless empty chunks reach the limit too.
        this.#left -= Math.max(2 ** 10, (value as ArrayLike<unknown> | undefined)?.length ?? 0);
        await waitToDiscard();
      }
    } catch {
      // The client has disconnected, or the host has cut the upload.
    }
  }

  /** Resolves at the first poll after `stallMs` without progress, or after `ms` milliseconds in all. */
  async #stall(ms: number): Promise<void> {
    for (let quiet = 0, rest = ms; quiet < 5 && rest > 0 && !this.#isEnded; rest -= pollMs) {
      const left = this.#left;
      await sleep(pollMs);
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

/** The uploads that wait to discard a chunk, each by what wakes it. */
const waitingUploads: (() => void)[] = [];

/**
 * Resolves in another iteration of the event loop, in which at most four uploads discard a chunk: otherwise a hundred clients that pour
 * without end would make each iteration long, and with it every other request.
 */
function waitToDiscard(): Promise<void> {
  // There no request may wake another.
  if (isWorkers()) return nextIteration();
  return new Promise((resolve) => {
    if (waitingUploads.push(resolve) === 1) void wakeFourAtATime();
  });
}

async function wakeFourAtATime(): Promise<void> {
  while (waitingUploads.length > 0) {
    await nextIteration();
    for (const wake of waitingUploads.splice(0, 4)) wake();
  }
}
