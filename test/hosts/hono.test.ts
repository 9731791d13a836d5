/** Hono's server replaces the global Request and Response, so this file needs a process of its own. */
import { describe, expect, test } from 'vitest';
import { named } from '../support/titled.js';
import { honoHosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(named(honoHosts))('the contract on %s', (_, host) => contractOn(host));

test('these tests ran with the globals that Hono replaced', () => {
  expect(Object.getPrototypeOf(Response).name).toBe('Response');
});
