import type { Signal } from '../http.js';
import type { BatchCall } from './create-many.js';

/** One call of `createMany`. Its signal is created on first read: an AbortController costs 2 µs, and most calls ignore it. */
export class Attempt implements BatchCall {
  sent = true;
  #controller: AbortController | undefined;
  #isAborted = false;

  get signal(): Signal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      guardListeners(this.#controller.signal);
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}

type Listener = NonNullable<Parameters<Signal['addEventListener']>[1]>;

/** Swallows what a signal's listeners throw: Node reports it as an uncaught exception, which would crash the app. */
function guardListeners(signal: Signal): void {
  const { addEventListener, removeEventListener } = signal;
  const guards = new WeakMap<Listener, Listener>();
  const guarded = (listener: Listener): Listener => {
    // What cannot be a key is no listener: the platform rejects or ignores it.
    if (Object(listener) !== listener) return listener;
    const guard = guards.get(listener) ?? guardOf(listener);
    guards.set(listener, guard);
    return guard;
  };
  signal.addEventListener = (type: string, listener: Listener, ...options: never[]) =>
    addEventListener.call(signal, type, guarded(listener), ...options);
  signal.removeEventListener = (type: string, listener: Listener, ...options: never[]) =>
    removeEventListener.call(signal, type, guarded(listener), ...options);
}

function guardOf(listener: Listener): Listener {
  return async function (this: Signal, event: Event) {
    try {
      await (typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event));
    } catch {}
  };
}
