// The programs that are run by hand still run: each in its short form.
import { expect, it } from 'vitest';
import { startProgram } from '../support/program.js';

it.each([
  ['test:soak', ['--quick'], /8 passed, 0 failed/],
  ['bench', ['--quick'], /(\| .* \*\*\d.*\n){12}/],
  ['test:mutants', ['adapters/storages/memory.ts'], /memory\.ts: [1-9]\d* of \d+ mutants are killed/],
])(
  'npm run %s -- %s',
  async (script, args, expected) => {
    const program = startProgram(['npm', 'run', script, '--', ...args]);
    expect(await program.exit, program.output()).toBe(0);
    expect(program.output()).toMatch(expected);
  },
  600_000,
);
