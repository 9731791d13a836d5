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
  const guards = new WeakMap<Listener, Listener>();
  const guardOf = (listener: Listener): Listener => {
    // What cannot be a key is no listener: the platform rejects or ignores it.
    if (Object(listener) !== listener) return listener;
    const guard = guards.get(listener) ?? swallowing(listener, signal);
    guards.set(listener, guard);
    return guard;
  };
  for (const method of ['addEventListener', 'removeEventListener'] as const) {
    const original = signal[method];
    signal[method] = (type: string, listener: Listener, ...options: never[]) =>
      original.call(signal, type, guardOf(listener), ...options);
  }
}

function swallowing(listener: Listener, signal: Signal): Listener {
  return async (event: Event) => {
    try {
      await (typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event));
    } catch {}
  };
}
