import { performance } from 'node:perf_hooks';
import type { Answer } from './load.js';

/** The outcome of a plant by the code of the response: no other code may come. */
export const outcomes: Readonly<Record<number, Answer['outcome']>> = {
  200: 'created',
  40003: 'taken',
  50001: 'unknown',
  // A lone plant whose statement an administrator cancelled; `onError` of the apps accepts no other cause.
  50004: 'refused',
  50301: 'refused',
  50302: 'unknown',
};

/** A plant, and whether its client retries. */
export type Sent = Pick<Answer, 'id' | 'name' | 'isRetried'>;

const tickMs = 10;
let lastTick = performance.now();
/** How long this process was not let run, in milliseconds: a machine that tests more than it can keeps it waiting. */
let stolenMs = 0;
setInterval(() => {
  const now = performance.now();
  stolenMs += Math.max(0, now - lastTick - tickMs);
  lastTick = now;
}, tickMs).unref();

/** A clock that stands still while this process is not let run: the times of plant-store are those of its own timers. */
const now = () => performance.now() - stolenMs;

/** The attempts of an app: those that have settled, until they are taken, and those that have not. */
export class Attempts {
  #settled: Answer[] = [];
  /** When each began, by `now`. */
  readonly #underway = new Map<Sent, number>();

  /** Sends one attempt, and notes what it was told. */
  async send<Response extends { readonly status: number; readonly text: string }>(
    plant: Sent,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const start = now();
    this.#underway.set(plant, start);
    try {
      const response = await send();
      const number = numberOf(response);
      const outcome = outcomes[number];
      if (!outcome) crash(`${response.status} ${response.text}`);
      else this.#settle(plant, outcome, number, start);
      return response;
    } catch (error) {
      // The connection broke, and the client retries.
      this.#settle(plant, 'unknown', 0, start);
      throw error;
    } finally {
      this.#underway.delete(plant);
    }
  }

  /** Returns what has settled since the last call. */
  take(): Answer[] {
    const settled = this.#settled;
    this.#settled = [];
    return settled;
  }

  /** Notes that those which are left have no response. */
  abandon(): void {
    for (const [plant, start] of this.#underway) this.#settle(plant, 'unsettled', 0, start);
  }

  #settle(plant: Sent, outcome: Answer['outcome'], number: number, start: number): void {
    // By the clock that the test reads: performance.timeOrigin does not follow it when it is set.
    this.#settled.push({ ...plant, outcome, number, at: Date.now(), took: now() - start });
  }
}

/** 200, or the number of the error. */
export function numberOf({ status, text }: { readonly status: number; readonly text: string }): number {
  return status === 200 ? 200 : JSON.parse(text).error;
}

/** Ends the app: a client would take what its `fetch` throws for a lost connection. */
function crash(message: string): void {
  process.nextTick(() => {
    throw new Error(message);
  });
}
