import { vi } from 'vitest';

/** Waits until a check no longer throws; on a machine that is busy with other work, far longer than the check takes. */
export const waitFor = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 5 });
