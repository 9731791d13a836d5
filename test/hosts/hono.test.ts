/** Hono's server swaps the process's own Request and Response for its light ones: so it has a process of its own. */
import { describe, expect, test } from 'vitest';
import { honoHosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(honoHosts)('the contract table on $name', contractOn);

test('the globals were swapped: that is what these hosts are tested with', () => {
  expect(Object.getPrototypeOf(Response).name).toBe('Response');
});
