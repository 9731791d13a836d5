/** Time, and the turns of the event loop. A test can bring a simulated one. */
export interface Clock {
  /** Milliseconds since some moment. Never goes back. */
  readonly now: () => number;
  readonly setTimer: (task: () => void, ms: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  /** Runs `task` when the event loop has finished this turn. */
  readonly atEndOfTurn: (task: () => void) => void;
}

// Taken when the module loads, because apps put fake timers in their place in tests: creates would then hang. Called
// without an object, because browsers refuse a `setTimeout` that is called on another object than the global one.
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
  // A microtask is too early: the rest of the turn's requests could not join. A timer is 1 ms too late.
  atEndOfTurn: (task) => {
    if (immediate) immediate(task);
    else if (Channel) atNextMessage(new Channel(), task);
    else set(task, 0);
  },
};

function atNextMessage({ port1, port2 }: InstanceType<typeof MessageChannel>, task: () => void): void {
  const onmessage = () => {
    port1.close();
    task();
  };
  Object.assign(port1, { onmessage });
  port2.postMessage(null);
}
