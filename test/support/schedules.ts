import { expect } from 'vitest';
import { randomOf, seed } from './random.js';

/** Random numbers from 0 to 1. */
export type Random = () => number;

/**
 * Runs random schedules until one of them lists a fault. `SEED=… SCHEDULES=1` repeats that one. Prints how many of
 * them a core runs in a minute.
 *
 * @param hazards seeds of schedules to run first
 */
export async function runSchedules(
  count: number,
  run: (random: Random, index: number) => Promise<readonly string[]>,
  hazards: readonly number[] = [],
): Promise<void> {
  const { SCHEDULES } = process.env;
  const schedules = Number(SCHEDULES ?? count);
  const first = SCHEDULES === '1' ? [seed] : [...hazards, seed];
  const start = process.cpuUsage();
  const { random: platformRandom } = Math;
  const { stackTraceLimit } = Error;
  // A schedule makes dozens of errors. Their stacks would take a fifth of its time, and no test reads them.
  Error.stackTraceLimit = 0;
  const seeds = randomOf(seed);
  let scheduleSeed = seed;
  let wrong: readonly string[] = [];
  try {
    for (let i = 0; i < schedules && wrong.length === 0; i++) {
      scheduleSeed = first[i] ?? 1 + Math.floor(2 ** 31 * seeds());
      const random = randomOf(scheduleSeed);
      Math.random = random;
      wrong = await run(random, i);
    }
  } finally {
    Math.random = platformRandom;
    Error.stackTraceLimit = stackTraceLimit;
  }
  expect(wrong, `SEED=${scheduleSeed} SCHEDULES=1`).toEqual([]);
  const { user, system } = process.cpuUsage(start);
  const perMinute = Math.round(schedules / ((user + system) / 60e6));
  console.log(`${schedules} schedules, ${perMinute} in a minute of one core`);
}
