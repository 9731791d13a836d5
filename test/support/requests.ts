import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** A request, whose code ends with it: on Workers, its timers never fire again, and its promises never continue. */
export interface SimulatedRequest {
  hasEnded: boolean;
}

/** The request whose code runs. */
export const current = new AsyncLocalStorage<SimulatedRequest>();

/** A task that runs in the request that made it, unless that has ended. */
export function ofRequest(task: () => void): () => void {
  const request = current.getStore();
  // Not `AsyncResource.bind`, which defines a property of each function: a third of the time of the tests that simulate.
  const resource = new AsyncResource('task');
  return () => void (request?.hasEnded || resource.runInAsyncScope(task));
}

class RequestPromise<T> extends Promise<T> {
  constructor(
    executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (error?: unknown) => void) => void,
  ) {
    const request = current.getStore();
    super((resolve, reject) => {
      if (!request) return executor(resolve, reject);
      executor(
        (value) => void (request.hasEnded || resolve(value)),
        (error) => void (request.hasEnded || reject(error)),
      );
    });
  }

  static override get [Symbol.species]() {
    return platformPromise;
  }
}

const platformPromise = Promise;

/** Runs `task` where each promise is one of the request that made it. */
export async function withRequests<T>(task: () => PromiseLike<T>): Promise<T> {
  globalThis.Promise = RequestPromise as PromiseConstructor;
  try {
    return await task();
  } finally {
    globalThis.Promise = platformPromise;
  }
}
