import { wait } from '../../src/for-hosts.js';

/** Leaves a refused client some time to read its response, before its connection is closed. */
export function linger(): Promise<void> {
  return wait(500);
}
