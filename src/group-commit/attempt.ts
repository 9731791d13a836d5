import type { Signal } from '../http.js';
import type { BatchCall } from './create-many.js';

/** One call of `createMany`. Its signal is created on first read: an AbortController costs 2 µs, and most calls ignore it. */
export class Attempt implements BatchCall {
  #isSent = true;
  #controller: AbortController | undefined;
  #isAborted = false;

  get sent(): boolean {
    return this.#isSent;
  }

  set sent(isSent: boolean) {
    if (isSent && this.#isAborted)
      throw new DOMException('the call was aborted before it was sent', 'AbortError');
    this.#isSent = isSent;
  }

  get signal(): Signal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      Object.assign(this.#controller.signal, guarded);
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

const guards = /* @__PURE__ */ new WeakMap<Listener, Listener>();

/** Swallow what a signal's listeners throw: Node reports it as an uncaught exception, which would crash the app. */
const guarded = {
  addEventListener(this: Signal, type: string, listener: Listener, ...options: never[]) {
    Object.getPrototypeOf(this).addEventListener.call(this, type, guardOf(listener), ...options);
  },
  removeEventListener(this: Signal, type: string, listener: Listener, ...options: never[]) {
    Object.getPrototypeOf(this).removeEventListener.call(this, type, guardOf(listener), ...options);
  },
};

function guardOf(listener: Listener): Listener {
  // What cannot be a key is no listener: the platform rejects or ignores it.
  if (Object(listener) !== listener) return listener;
  const guard = guards.get(listener) ?? swallowing(listener);
  guards.set(listener, guard);
  return guard;
}

function swallowing(listener: Listener): Listener {
  return async function (this: Signal, event: Event) {
    try {
      await (typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event));
    } catch {}
  };
}
