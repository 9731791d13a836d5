// acceptTokens must not tell a secret by its time: neither its length nor how much of it was guessed.
import { acceptTokens, type VerifyContext, type VerifyToken } from 'plant-store';
import { expect, it } from 'vitest';

const samples = 10_000;
/** Calls of one sample: a single one is shorter than the clock can tell. */
const calls = 100;
const given = 'a'.repeat(32);
/** Made at run time, as a secret of the environment is: a literal is a string of another kind to V8. */
const made = (text: string) => Buffer.from(text).toString('latin1');
/** Two in turn: V8 takes a call with the same text out of the loop. */
const tokens = [made(given), made(given)];

const secrets: Record<string, string> = {
  'none of the token': 'b'.repeat(32),
  'all of the token but its end': `${'a'.repeat(31)}b`,
  'half of the token': 'a'.repeat(16) + 'b'.repeat(16),
  'a shorter secret': 'b'.repeat(8),
  'a shorter secret that the token begins with': 'a'.repeat(8),
  'a longer secret': 'b'.repeat(64),
  'a longer secret that begins with the token': given + 'b'.repeat(32),
};

it('acceptTokens takes the same time for each secret, by Welch', { timeout: 300_000 }, () => {
  const context = {} as VerifyContext;
  const classes = Object.entries(secrets).map(([name, secret]) => {
    return { name, verify: acceptTokens(made(secret)), times: [] as number[] };
  });
  const measure = (verify: VerifyToken<true>) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) if (verify(tokens[i % 2]!, context)) throw new Error('accepted');
    return Number(process.hrtime.bigint() - start);
  };
  for (let i = 0; i < samples * 1.1; i++) {
    // Another order each time, so that no class always follows the same one.
    const shift = i % classes.length;
    const order = [...classes.slice(shift), ...classes.slice(0, shift)];
    if (Math.floor(i / classes.length) % 2) order.reverse();
    for (const { verify, times } of order) times.push(measure(verify));
  }
  // Without the first ones, and what the scheduler adds: the slowest tenth of all, by one limit for all classes.
  for (const { times } of classes) times.splice(0, samples * 0.1);
  const all = classes.flatMap(({ times }) => times).sort((a, b) => a - b);
  const limit = all[Math.floor(all.length * 0.9)]!;
  const [base, ...others] = classes.map(({ name, times }) => ({ name, ...statistics(times, limit) }));
  for (const { name, mean, error } of others) {
    // By the threshold of test vector leakage assessment, and an eighth of a character: where objects lie in memory takes less.
    const difference = Math.abs(mean - base!.mean);
    const leaks = difference > Math.max(4.5 * Math.hypot(error, base!.error), base!.mean / given.length / 8);
    expect(leaks, `${name}: ${difference / calls} ns a call`).toBe(false);
  }
});

function statistics(times: readonly number[], limit: number): { mean: number; error: number } {
  const kept = times.filter((time) => time <= limit);
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  const squares = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (kept.length - 1) / kept.length) };
}
