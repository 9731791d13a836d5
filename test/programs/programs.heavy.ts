// The programs that are run by hand still run: each in its short form.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';

const chart = join(newFolder(), 'chart.svg');

it.each([
  ['test:soak', ['--quick'], /8 passed, 0 failed/],
  ['bench', ['--quick', `--chart=${chart}`], /(\| .* \*\*\d.*\n){18}/],
  ['bench', ['--quick', '--waterfall'], /\| by hand \| .*\n(\| .* \| [+-].*\n){8}\| in all/],
  ['test:mutants', ['adapters/storages/memory.ts'], /memory\.ts: [1-9]\d* of \d+ mutants are killed/],
])(
  'npm run %s -- %s',
  async (script, args, expected) => {
    const program = startProgram(['npm', 'run', script, '--', ...args]);
    expect(await program.exit, program.output()).toBe(0);
    expect(program.output()).toMatch(expected);
    if (args.includes(`--chart=${chart}`)) expect(statSync(chart).size).toBeLessThanOrEqual(8_000);
  },
  600_000,
);
