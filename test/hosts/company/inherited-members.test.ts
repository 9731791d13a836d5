import { beforeAll, expect, test } from 'vitest';
import { bundleOf } from '../../support/bundle.js';
import { startProgram } from '../../support/program.js';

const bundle = bundleOf('test/hosts/company/inherited-members.ts');

/** What the program prints, if it ends well. */
async function responses(when: string): Promise<string> {
  const program = startProgram([process.execPath, bundle, when]);
  expect(await program.exit, program.output()).toBe(0);
  return program.output();
}

let usual: string;
beforeAll(async () => {
  usual = await responses('never');
});

test.each(['before', 'after'])(
  'every host responds as usual if Object.prototype gets members %s plant-store is loaded',
  async (when) => {
    expect(usual.match(/HTTP\/1.1 200/g)).toHaveLength(56);
    expect(await responses(when)).toBe(usual);
  },
);
