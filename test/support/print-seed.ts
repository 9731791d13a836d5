import type { TestProject } from 'vitest/node';

/** Vitest's global setup: a run that fails says how to repeat it. */
export default function setup({ config }: TestProject): void {
  console.log(`SEED=${config.env.SEED}`);
}
