import { describe, it } from 'vitest';

/**
 * Declares tests that need something of the machine, such as a browser. If it is missing they are skipped, and the
 * title says why; with `CI` set they fail.
 *
 * @param obstacle the missing program and how to get it; `undefined` if none is missing
 */
export function describeUnless(obstacle: string | undefined, title: string, declare: () => void): void {
  if (!obstacle) {
    describe(title, declare);
  } else if (process.env.CI) {
    it(title, () => {
      throw new Error(`CI is set, so this must run: ${obstacle}`);
    });
  } else {
    describe.skip(`${title} (skipped: ${obstacle})`, declare);
  }
}
