// Captured at load time, before an app's tests install fake timers. Called without an object, because browsers
// refuse a `setTimeout` that is called on another object than the global one.

/** Milliseconds since some moment. Never goes back. */
export const now: () => number = /* @__PURE__ */ performance.now.bind(performance);
const set = setTimeout;
const abortAfter = AbortSignal.timeout?.bind(AbortSignal);
const clear = clearTimeout;
const Channel = typeof MessageChannel === 'function' ? MessageChannel : undefined;

/** The clock of the platform. */
export const systemClock = {
  now,
  // Node cuts the fraction, and keeps a list of the timers of each duration: 10 s is also what pools wait for.
  setTimer: (task: () => void, ms: number): unknown => set(task, Math.ceil(ms)),
  clearTimer: (timer: unknown) => clear(timer as ReturnType<typeof setTimeout>),
  /** Runs `task` when the event loop has handled what has come in this iteration. */
  atEndOfIteration: (task: () => void) => void (Channel ? nextMessage() : nextIteration()).then(task),
};

/** A test can bring a simulated one. */
export type Clock = typeof systemClock;

// Two kinds of later: `nextMessage` is the sooner, `nextIteration` also lets the event loop read what has come meanwhile.

/** The channel that `nextMessage` keeps, because to open one costs more than to send a message. */
let kept: ReturnType<typeof openChannel> | undefined;
const listeners: (() => void)[] = [];

/**
 * Resolves when the event loop delivers a message: Node has then parsed all of the packet that it is parsing. Not by
 * `setImmediate`, because test runners fake it, often before this module loads. A microtask would be too early, except
 * for Jest's jsdom, which has no messages (jsdom/jsdom#2448).
 */
export function nextMessage(): Promise<void> {
  if (!Channel) return Promise.resolve();
  // Only Node's are kept: on Workers a request must not wake another's port, and Deno's tests report a port that is kept.
  // Looked up on the global object: a test setup for jsdom may define MessageChannel alone.
  if (!globalThis.MessagePort?.prototype.on) return nextIteration();
  return new Promise((resolve) => {
    if (listeners.push(resolve) > 1) return;
    kept ??= openChannel(() => {
      kept?.port1.unref();
      for (const resolve of listeners.splice(0)) resolve();
    });
    // Referenced only while somebody waits: otherwise it would keep the process alive.
    kept.port1.ref();
    kept.port2.postMessage(null);
  });
}

/**
 * Resolves in another iteration of the event loop, for work that may have no end. By a channel of its own, because Node delivers
 * up to 1000 messages of one channel in one.
 */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => {
    if (!Channel) return void set(resolve, 0);
    const { port1, port2 } = openChannel(() => {
      for (const port of [port1, port2]) port.close(); // Deno counts both.
      resolve();
    });
    port2.postMessage(null);
  });
}

function openChannel(onmessage: () => void) {
  const channel = new Channel!();
  Object.assign(channel.port1, { onmessage });
  return channel;
}

/** Keeps the process alive until the promise settles, for waits that a response depends on in a program without a server. */
export function keepAliveUntil<T>(promise: Promise<T>): Promise<T> {
  const timer = set(() => {}, 2 ** 31 - 1);
  return promise.finally(() => clear(timer));
}

/**
 * Resolves after `ms` milliseconds of real time. By a timer that test runners fake less often than `setTimeout`, and later: `node:test`
 * does from Node 24 on (https://nodejs.org/api/test.html#class-mocktimers).
 * It keeps no process alive.
 */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => abortAfter(ms).addEventListener('abort', () => resolve()));
}

/**
 * Whether this is Cloudflare Workers, where the promises and timers of a request end with it:
 * https://developers.cloudflare.com/workers/runtime-apis/context/
 */
export function isWorkers(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
