/** Time, and the turns of the event loop. A test can bring a simulated one. */
export interface Clock {
  /** Milliseconds since some moment. Never goes back. */
  readonly now: () => number;
  readonly setTimer: (task: () => void, ms: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  /** Runs `task` when the event loop has finished this turn. */
  readonly atEndOfTurn: (task: () => void) => void;
}

// Kept from when the module loads, because an app's tests may fake them later. Called without an object, because browsers
// refuse a `setTimeout` that is called on another object than the global one.
const now = /* @__PURE__ */ performance.now.bind(performance);
const set = setTimeout;
const clear = clearTimeout;
const immediate = typeof setImmediate === 'function' ? setImmediate : undefined;
const Channel = typeof MessageChannel === 'function' ? MessageChannel : undefined;

/** The clock of the platform. */
export const systemClock: Clock = {
  now,
  setTimer: (task, ms) => set(task, ms),
  clearTimer: (timer) => clear(timer as ReturnType<typeof setTimeout>),
  atEndOfTurn,
};

/** Whether the kept `setImmediate` is a fake, from before this module was loaded: unknown until one has run, or has not. */
let isFake: boolean | undefined;

// A microtask is too early: the rest of the turn's requests could not join. A timer is 1 ms too late.
function atEndOfTurn(task: () => void): void {
  if (immediate && isFake === false) immediate(task);
  else if (!immediate || isFake) atNextMessage(task);
  else detectFake(immediate, task);
}

function detectFake(immediate: (task: () => void) => unknown, task: () => void): void {
  const runIf = (expected: boolean) => {
    isFake ??= expected;
    if (isFake === expected) task();
  };
  immediate(() => runIf(false));
  // Twice: after a turn that took longer, the first timer fires before the end of the turn.
  wait(1)
    .then(() => wait(1))
    .then(() => runIf(true));
}

/** Test runners do not fake messages. */
function atNextMessage(task: () => void): void {
  if (!Channel) return void set(task, 0);
  const { port1, port2 } = new Channel();
  const onmessage = () => {
    port1.close();
    task();
  };
  Object.assign(port1, { onmessage });
  port2.postMessage(null);
}

/** Resolves when the event loop has finished this turn. */
export function endOfTurn(): Promise<void> {
  return new Promise(atEndOfTurn);
}

/** Resolves after `ms` milliseconds of real time, because test runners do not fake this timer. It keeps no process alive. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => AbortSignal.timeout(ms).addEventListener('abort', () => resolve()));
}
