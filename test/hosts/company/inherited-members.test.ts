import { expect, test } from 'vitest';
import { bundleOf } from '../../support/bundle.js';
import { startProgram } from '../../support/program.js';

/** What the program prints, if it ends well. */
async function responses(when: string): Promise<string> {
  const program = startProgram([process.execPath, bundleOf('test/hosts/company/inherited-members.ts'), when]);
  expect(await program.exit, program.output()).toBe(0);
  return program.output();
}

test.each(['before', 'after'])(
  'every host responds as usual if Object.prototype gets members %s plant-store is loaded',
  async (when) => {
    const usual = await responses('never');
    expect(usual.match(/HTTP\/1.1 200/g)).toHaveLength(24);
    expect(await responses(when)).toBe(usual);
  },
);
