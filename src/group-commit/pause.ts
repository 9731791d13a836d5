import { systemClock } from '../timers.js';

const firstPauseMs = 5;
const longestPauseMs = 500;

/** Resolves after 5 ms, doubling with each attempt to 500 ms, or up to half less: instances must not retry in step. */
export function pause(attempt: number): Promise<void> {
  const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => systemClock.setTimer(resolve, ms));
}
