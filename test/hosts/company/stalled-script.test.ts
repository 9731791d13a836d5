import { expect, test } from 'vitest';
import { bundleOf } from '../../support/bundle.js';
import { startProgram } from '../../support/program.js';

test('a program without a server stays alive until toFetch has responded to a stalled body', async () => {
  const program = startProgram([process.execPath, bundleOf('test/hosts/company/stalled-script.ts')]);
  expect([await program.exit, program.output()]).toEqual([0, '401 40102\n']);
});
