// Captured at load time, before an app's tests install fake timers. Called without an object, because browsers
// refuse a `setTimeout` that is called on another object than the global one.

/** Milliseconds since some moment. Never goes back. */
export const now: () => number = /* @__PURE__ */ performance.now.bind(performance);
const set = setTimeout;
const clear = clearTimeout;
const Channel = typeof MessageChannel === 'function' ? MessageChannel : undefined;

/** The clock of the platform. */
export const systemClock = {
  now,
  setTimer: (task: () => void, ms: number): unknown => set(task, ms),
  clearTimer: (timer: unknown) => clear(timer as ReturnType<typeof setTimeout>),
  /**
   * Runs `task` when the event loop has finished this turn and read the bodies that came in it. Twice: a request that waits
   * for the same message first has to read its body, to join the batch.
   */
  atEndOfTurn: (task: () => void) =>
    void (Channel ? nextMessage().then(nextMessage) : endOfTurn()).then(task),
};

/** A test can bring a simulated one. */
export type Clock = typeof systemClock;

/** The executor of a promise that resolves with the next message of a channel. */
type Executor = (resolve: () => void) => void;

let kept: Executor | undefined;

/**
 * Resolves when the event loop delivers a message: Node has then parsed all of the packet that it is parsing. Not by
 * `setImmediate`, because test runners fake it, often before this module loads. A microtask would be too early, except
 * for Jest's jsdom, which has no messages.
 */
export function nextMessage(): Promise<void> {
  return Channel ? new Promise(kept ?? openChannel(true)) : Promise.resolve();
}

/**
 * Resolves in another turn of the event loop, for work that may have no end. By a channel of its own, because Node delivers
 * up to 1000 messages of one channel in a turn.
 */
export function endOfTurn(): Promise<void> {
  return new Promise(openChannel(false));
}

/** @param isShared whether to keep it, because to open one costs more than to send a message */
function openChannel(isShared: boolean): Executor {
  if (!Channel) return (resolve) => set(resolve, 0);
  const { port1, port2 } = new Channel();
  // Only on Node: on Workers a request must not wake another's port, and Deno's tests report a port that is kept.
  const isKept = isShared && typeof port1.on === 'function';
  const waiting: (() => void)[] = [];
  const onmessage = () => {
    if (isKept) port1.unref();
    else for (const port of [port1, port2]) port.close(); // Deno counts both.
    for (const resolve of waiting.splice(0)) resolve();
  };
  Object.assign(port1, { onmessage });
  const executor: Executor = (resolve) => {
    if (waiting.push(resolve) > 1) return;
    // Referenced only while somebody waits: otherwise it would keep the process alive.
    if (isKept) port1.ref();
    port2.postMessage(null);
  };
  if (isKept) kept = executor;
  return executor;
}

/** Keeps the process alive until the promise settles, for waits that a response depends on in a program without a server. */
export function keepAliveUntil<T>(promise: Promise<T>): Promise<T> {
  const timer = set(() => {}, 2 ** 31 - 1);
  return promise.finally(() => clear(timer));
}

/** Resolves after `ms` milliseconds of real time, because test runners do not fake this timer. It keeps no process alive. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => AbortSignal.timeout(ms).addEventListener('abort', () => resolve()));
}

/** Whether this is Cloudflare Workers, where the promises and timers of a request end with it. */
export function isWorkers(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
