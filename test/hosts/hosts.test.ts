import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../support/root.js';
import { named } from '../support/titled.js';
import { hosts, moreHosts, oneOfEachAdapter } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(named([...hosts, ...moreHosts]))('the contract on %s', (_, host) => contractOn(host));

test('tests that take long run on each adapter', () => {
  const files = readdirSync(join(root, 'adapters/hosts')).filter((name) => name.endsWith('.ts'));
  const represented = new Set(oneOfEachAdapter.map(({ represents }) => `${represents}.ts`));
  expect([...represented].sort()).toEqual(files.sort());
});
