/** APM agents and patches wrap every handler of an app. Each runs in a process of its own, because it patches modules. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { root } from '../../support/root.js';

const program = join(root, 'test/programs/runtimes/agents.cjs');

test.each(['opentelemetry', 'newrelic', '@sentry/node', 'dd-trace', 'express-async-errors'])(
  'under %s every documented mount creates, and another path is a 404 of the app',
  async (agent) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, inject('runtimes'), agent]);
    const statuses = Object.entries<number[]>(JSON.parse(stdout));
    expect(statuses).toHaveLength(16);
    expect(statuses.filter(([, found]) => found.join() !== '200,404')).toEqual([]);
  },
);
