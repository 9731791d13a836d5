/**
 * Random requests on a simulated clock: a verifier, a body and a storage that answer at any time, fail, or never answer,
 * and clients that disconnect. A model gives the response to each request and its time, and the time of its signal.
 */
import { getEventListeners } from 'node:events';
import type { NewPlant, PlantRequest, PlantStorage, VerifyContext } from 'plant-store';
import { afterAll, expect, it, vi } from 'vitest';
import type { SimulatedClock } from '../support/clock.js';
import { isHeavy } from '../support/heavy.js';
import { seed } from '../support/random.js';
import { type Random, runSchedules } from '../support/schedules.js';
import { SimulatedTimers } from '../support/timers.js';

const timers = new SimulatedTimers();
timers.install();
const library = await import('plant-store');
afterAll(() => vi.unstubAllGlobals());

const { BodyError, InsufficientScope, PlantRefused, StorageBusy } = library;
const plant: NewPlant = { id: 1n, name: 'Rosa canina', tag: undefined };
const text = '{"id":1,"name":"Rosa canina"}';

/** How the work of a step ends: with a value, or a throw. */
interface End {
  readonly value?: unknown;
  readonly throws?: unknown;
  /** The response to the request; without it, the request continues with its next step. */
  readonly answer?: number;
  /** Whether `onError` hears of it. */
  readonly isReported?: boolean;
}

const never = Number.POSITIVE_INFINITY;
const failure = new Error('the disk is full');
const stopped = new DOMException('stopped', 'AbortError');

/** The steps of a request in their order, and each way that one ends. */
const ends = {
  verifier: [
    { value: true },
    { value: true },
    { value: false, answer: 40102 },
    { throws: new InsufficientScope('plants:write'), answer: 40301 },
    { throws: failure, answer: 50002, isReported: true },
    { throws: stopped, answer: 50002, isReported: true },
  ],
  body: [
    { value: text },
    { value: text },
    { value: '{', answer: 40001 },
    { throws: new BodyError('body_too_large'), answer: 40006 },
    { throws: new BodyError('body_incomplete'), answer: 40007 },
    { throws: failure, answer: 50003, isReported: true },
  ],
  storage: [
    { value: 'created', answer: 200 },
    { value: 'taken' },
    { throws: new StorageBusy(), answer: 50301, isReported: true },
    { throws: new PlantRefused('too large'), answer: 40004 },
    { throws: failure, answer: 50001, isReported: true },
    { throws: stopped, answer: 50001, isReported: true },
  ],
  find: [
    { value: plant, answer: 200 },
    { value: { ...plant, name: 'Ilex' }, answer: 40003 },
    { value: undefined, answer: 40003 },
    { throws: failure, answer: 50001, isReported: true },
  ],
} satisfies Record<string, readonly End[]>;

type Step = keyof typeof ends;

const steps = Object.keys(ends) as Step[];
/** If the work throws what is unknown to the library; and if it is not done at the deadline. */
const faults = { verifier: 50002, body: 50003, storage: 50001, find: 50001 };
const timeouts = { verifier: 50002, body: 40007, storage: 50302, find: 50302 };

/** What one step of a request does. */
interface Work {
  readonly way: 'at once' | 'promise' | 'foreign promise' | 'stream';
  /** How long it takes, in milliseconds; infinite if it never ends. */
  readonly ms: number;
  readonly end: End;
  /** Whether it rejects with the signal's reason when the signal aborts. */
  readonly stops: boolean;
  /** When it reads the signal, in milliseconds from its start. */
  readonly readsAfter: number | undefined;
}

/** What the model says of a request; times are in milliseconds from its start. */
interface Fate {
  readonly answer: number;
  readonly at: number;
  readonly isTimeout: boolean;
  readonly reported: readonly unknown[];
  /** The steps that began. */
  readonly begun: readonly Step[];
}

class Request {
  readonly works: Readonly<Record<Step, Work>>;
  /** When the client leaves, in milliseconds from the start of the request; at 0 before it. */
  readonly leavesAt: number;
  readonly client = new AbortController();
  readonly request: PlantRequest;
  readonly begun: Step[] = [];
  readonly reported: unknown[] = [];
  readonly wrong: string[] = [];
  answer: { readonly number: number; readonly at: number } | undefined;
  /** The signal as it was first read. */
  reading: { readonly at: number; readonly signal: AbortSignal; readonly hasFired: boolean } | undefined;
  readonly fired: number[] = [];

  constructor(
    readonly store: Store,
    readonly startsAt: number,
  ) {
    const { random } = store;
    const isSeldom = random() < 0.5;
    const ms = isSeldom || random() < 0.5 ? never : this.#outsideOfTheWindow(2 * random());
    this.leavesAt = random() < 0.1 ? 0 : ms;
    this.works = this.#plan();
    this.request = {
      method: 'POST',
      url: '/plants',
      headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
      body: this.#body(),
      signal: random() < 0.8 || this.leavesAt < never ? this.client.signal : undefined,
      raw: this,
    };
    // The client's signal is the host's own, and may fail.
    if (random() < 0.05) {
      Object.assign(this.client.signal, { removeEventListener: () => this.#failToRemove() });
    }
  }

  #failToRemove(): never {
    const [listener] = getEventListeners(this.client.signal, 'abort');
    EventTarget.prototype.removeEventListener.call(this.client.signal, 'abort', listener as () => void);
    throw failure;
  }

  get now(): number {
    return this.store.clock.now() - this.startsAt;
  }

  /** Milliseconds that do not end at the deadline, nor within the millisecond after it. */
  #outsideOfTheWindow(share: number, from = 0): number {
    const { timeoutMs } = this.store;
    const ms = 0.1 + share * (timeoutMs || 1000);
    return from + ms > timeoutMs - 0.1 && from + ms < timeoutMs + 1.1 ? ms + 1.2 : ms;
  }

  #plan(): Record<Step, Work> {
    const { random } = this.store;
    let elapsed = 0;
    const plan = steps.map((step): [Step, Work] => {
      const ways = ['at once', 'promise', 'promise', 'promise', 'foreign promise', 'stream'] as const;
      const drawn = ways[Math.floor(random() * ways.length)]!;
      const way = drawn === 'stream' && step !== 'body' ? 'promise' : drawn;
      const share = random() < 0.8 ? 0.6 * random() : 2 * random();
      const takesTime = way !== 'at once' && random() < 0.7;
      const isEndless = takesTime && random() < 0.1;
      const begunAt = elapsed;
      const ms = isEndless ? never : takesTime ? this.#outsideOfTheWindow(share, elapsed) : 0;
      elapsed += ms;
      const end = ends[step][random() < 0.7 ? 0 : Math.floor(random() * ends[step].length)] as End;
      const stops = step !== 'body' && way !== 'at once' && random() < 0.3;
      const reads = random() < 0.2 && begunAt < never;
      const later = reads ? this.#outsideOfTheWindow(1.5 * random() * random(), begunAt) : undefined;
      const readsAfter = stops ? 0 : later;
      return [step, { way, ms, end, stops, readsAfter }];
    });
    return Object.fromEntries(plan) as Record<Step, Work>;
  }

  #body(): PlantRequest['body'] {
    const { way, ms, end } = this.works.body;
    if (way !== 'stream') return () => this.begin('body') as string;
    const { clock, random } = this.store;
    const begin = () => this.begun.push('body');
    const chunks = async function* () {
      begin();
      const bytes = new TextEncoder().encode(String(end.value ?? text));
      if (ms === never) await new Promise(() => {});
      for (const part of [0, 1, 2]) {
        if (ms > 0) await clock.sleep(ms / 3);
        yield bytes.subarray(part * 9, part === 2 ? undefined : part * 9 + 9);
      }
      if (end.throws) throw end.throws;
    };
    // A connection's stream is read on after a refusal, so that it does not block the next request.
    return Object.assign(chunks(), random() < 0.5 && { pipe() {} });
  }

  start(): void {
    if (this.leavesAt === 0) this.client.abort();
    else if (this.leavesAt < never) {
      this.store.clock.setTimer(() => this.client.abort(), this.leavesAt);
    }
    this.store.handle(this.request).then(
      ({ status, body }) => this.#onAnswer(status === 200 ? 200 : JSON.parse(body).error),
      (error) => this.wrong.push(`handle rejected with ${error}`),
    );
  }

  #onAnswer(number: number): void {
    this.answer = { number, at: this.now };
    const listeners = getEventListeners(this.client.signal, 'abort').length;
    if (listeners > 0) this.wrong.push(`${listeners} listeners are left on the client's signal`);
  }

  /** Does the work of a step, as the app's code would. */
  begin(step: Step, context?: VerifyContext): unknown {
    this.begun.push(step);
    const { way, ms, end, stops, readsAfter } = this.works[step];
    const { clock } = this.store;
    if (context && readsAfter === 0) this.#read(context);
    else if (context && readsAfter) clock.setTimer(() => this.#read(context), readsAfter);
    const finish = () => {
      if ('throws' in end) throw end.throws;
      return end.value;
    };
    if (way === 'at once') return finish();
    const work = new Promise((resolve, reject) => {
      const signal = stops ? context?.signal : undefined;
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason));
      const run = () => Promise.resolve().then(finish).then(resolve, reject);
      if (ms === 0) run();
      else if (ms < never) clock.setTimer(run, ms);
    });
    if (way === 'promise') return work;
    // In one of these cases it has no other listener.
    work.catch(() => {});
    return foreign(work, ms === 0 && !stops ? finish : undefined);
  }

  #read(context: VerifyContext): void {
    const { signal } = context;
    if (signal !== (this.reading?.signal ?? signal)) this.wrong.push('the signal is another one');
    if (this.reading) return;
    this.reading = { at: this.now, signal, hasFired: signal.aborted };
    signal.addEventListener('abort', () => this.fired.push(this.now));
  }

  #hasLeft(at: number): boolean {
    return this.leavesAt < never && this.leavesAt <= at;
  }

  /** The model. */
  fate(): Fate {
    const { acceptReplays, timeoutMs } = this.store;
    const limit = timeoutMs || never;
    const begun: Step[] = [];
    const fate = (answer: number, at: number, reported: readonly unknown[] = []): Fate => {
      return { answer, at, isTimeout: false, reported, begun };
    };
    let at = 0;
    for (const step of steps) {
      begun.push(step);
      const { ms, end, stops } = this.works[step];
      const isStopped = stops && this.#hasLeft(at + ms);
      const doneAt = isStopped ? Math.max(at, this.leavesAt) : at + ms;
      if (limit === never && doneAt === never) return fate(0, never);
      if (doneAt > limit) {
        const answer = timeouts[step];
        return { ...fate(answer, limit, answer === 40007 ? [] : ['timeout']), isTimeout: true };
      }
      at = doneAt;
      if (isStopped) return fate(faults[step], at);
      const answer = end.value === 'taken' && !acceptReplays ? 40003 : end.answer;
      if (answer === undefined) continue;
      const isExpected = end.throws === stopped && this.#hasLeft(at);
      return fate(answer, at, end.isReported && !isExpected ? [end.throws] : []);
    }
    throw new Error('the last step has no answer');
  }

  /** When the signal fires, if it does; or whether it has fired when it is first read. */
  #signalOf({ at, isTimeout }: Fate, readAt: number): 'fired' | number | undefined {
    if (this.#hasLeft(readAt)) return 'fired';
    if (isTimeout && at < readAt) return 'fired';
    if (this.#hasLeft(at)) return this.leavesAt;
    return isTimeout ? at : undefined;
  }

  /** What is not as the model says. */
  differences(): string[] {
    const wrong = [...this.wrong];
    const fate = this.fate();
    const { answer, reading } = this;
    const same = (what: string, is: unknown, expected: unknown) =>
      JSON.stringify(is) === JSON.stringify(expected) || wrong.push(`${what}: ${is}, expected ${expected}`);
    const causes = this.reported.map((cause) =>
      (cause as Error).name === 'TimeoutError' ? 'timeout' : String(cause),
    );
    same('answer', answer?.number ?? 0, fate.answer);
    same('steps', this.begun, fate.begun);
    same('onError', causes, fate.reported.map(String));
    if (!this.#isAt(answer?.at ?? never, fate)) {
      wrong.push(`answered after ${answer?.at} ms, expected ${fate.at} ms`);
    }
    if (reading) {
      const expected = this.#signalOf(fate, reading.at);
      same('signal when it is read', reading.hasFired, expected === 'fired');
      same('times that the signal fires', this.fired.length, typeof expected === 'number' ? 1 : 0);
      const inTime = this.fired.every((at) => this.#isAt(at, { ...fate, at: expected as number }));
      if (!inTime) wrong.push(`the signal fired at ${this.fired}, expected ${expected}`);
    }
    return wrong.map((text) => `${text} (${this.store}; ${this})`);
  }

  #isAt(at: number, { at: expected }: Fate): boolean {
    return at === expected || Math.abs(at - expected) <= 1e-6;
  }

  toString(): string {
    const works = JSON.stringify(this.works, (_key, v) => (typeof v === 'bigint' ? `${v}n` : v));
    return `starts at ${this.startsAt}, the client leaves after ${this.leavesAt}, ${works}`;
  }
}

/** A promise of another library, which calls back twice and then throws. */
function foreign(work: Promise<unknown>, settlesNow: (() => unknown) | undefined): PromiseLike<unknown> {
  const then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
    if (settlesNow) {
      resolve(settlesNow());
      throw failure;
    }
    work.then(
      (value) => {
        resolve(value);
        reject(failure);
      },
      (error) => {
        reject(error);
        resolve('late');
      },
    );
  };
  return { then } as PromiseLike<unknown>;
}

/** One store, and the requests that it gets at the same time. */
class Store {
  readonly clock: SimulatedClock;
  readonly timeoutMs: number;
  readonly acceptReplays: boolean;
  readonly requests: Request[];
  readonly handle: ReturnType<typeof library.createPlantStore>;
  readonly wrong: string[] = [];

  constructor(readonly random: Random) {
    this.clock = timers.reset();
    this.timeoutMs = random() < 0.1 ? 0 : 1 + Math.floor(random() * 1000);
    this.acceptReplays = random() < 0.5;
    const begin = (step: Step) => (_given: unknown, context: VerifyContext) =>
      (context.request.raw as Request).begin(step, context);
    const storage = { create: begin('storage'), find: begin('find') } as unknown as PlantStorage;
    this.handle = library.createPlantStore(storage, begin('verifier') as () => true, {
      timeoutMs: this.timeoutMs,
      acceptReplays: this.acceptReplays,
      onError: (error, { raw }) => {
        (raw as Request).reported.push(error);
        if (random() < 0.2) throw failure;
        if (random() < 0.2) return Promise.reject(failure);
      },
    });
    const count = 1 + Math.floor(6 * random());
    this.requests = Array.from({ length: count }, () => new Request(this, Math.floor(1000 * random())));
  }

  async run(): Promise<string[]> {
    for (const request of this.requests) this.clock.setTimer(() => request.start(), request.startsAt);
    // Until every late outcome has come, too.
    await this.clock.advance(20_000);
    if (timers.count > 0) this.wrong.push(`${timers.count} timers are left`);
    // Node reports an unhandled rejection when a turn of its event loop ends.
    await new Promise((resolve) => setImmediate(resolve));
    this.wrong.push(...rejections.splice(0).map((error) => `unhandled: ${error}`));
    return [...this.wrong, ...this.requests.flatMap((request) => request.differences())];
  }

  toString(): string {
    return `timeoutMs ${this.timeoutMs}`;
  }
}

const rejections: unknown[] = [];

it(`a request returns the outcome that came first, and never responds after its timeout (SEED=${seed})`, async () => {
  const onRejection = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', onRejection);
  await runSchedules(isHeavy ? 25_000 : 3_000, (random) => new Store(random).run());
  process.off('unhandledRejection', onRejection);
  expect(rejections).toEqual([]);
}, 600_000);
