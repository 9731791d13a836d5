// acceptTokens must not tell a secret by its time: neither its length nor how much of it was guessed.
import { acceptTokens, type VerifyContext } from 'plant-store';
import { expect, it } from 'vitest';

const samples = 10_000;
/** Calls of one sample: a single one is shorter than the clock can tell. */
const calls = 100;
const given = 'a'.repeat(32);

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
    // Built at run time, as a secret of the environment is: a literal is a string of another kind to V8.
    const verify = acceptTokens(Buffer.from(secret).toString('latin1'));
    return { name, verify, times: [] as number[] };
  });
  const measure = (verify: (typeof classes)[number]['verify']) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) verify(given, context);
    return Number(process.hrtime.bigint() - start);
  };
  for (let i = 0; i < samples * 1.1; i++) {
    // Another order each time, so that no class always follows the same one.
    const shift = i % classes.length;
    const order = [...classes.slice(shift), ...classes.slice(0, shift)];
    if (Math.floor(i / classes.length) % 2) order.reverse();
    for (const { verify, times } of order) {
      const time = measure(verify);
      if (i >= samples * 0.1) times.push(time);
    }
  }
  // Without what the scheduler adds: the slowest tenth of all, by one limit for all classes.
  const limit = classes.flatMap(({ times }) => times).sort((a, b) => a - b)[
    Math.floor(samples * classes.length * 0.9)
  ]!;
  const [base, ...others] = classes.map(({ name, times }) => ({ name, ...statistics(times, limit) }));
  for (const { name, mean, error } of others) {
    // The threshold of test vector leakage assessment: at 3, the noise of six comparisons fails one run of sixty.
    const t = (mean - base!.mean) / Math.hypot(error, base!.error);
    expect(Math.abs(t), `${name}: ${(mean - base!.mean) / calls} ns more a call`).toBeLessThanOrEqual(4.5);
  }
});

function statistics(times: readonly number[], limit: number): { mean: number; error: number } {
  const kept = times.filter((time) => time <= limit);
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1);
  return { mean, error: Math.sqrt(variance / kept.length) };
}
