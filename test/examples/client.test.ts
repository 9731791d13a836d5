import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runExample, urlOf } from '../support/program.js';

const run = promisify(execFile);

describe('the client sends ids beyond 2^53 digit by digit', () => {
  it.each([
    ['as this Node does it', []],
    ['with JSON.rawJSON', ['--harmony-json-parse-with-source']],
    ['without JSON.rawJSON', ['--import', 'data:text/javascript,delete JSON.rawJSON']],
  ])('%s', async (_title, flags) => {
    const url = await urlOf(runExample('server', { DATABASE_URL: 'memory:' }));
    const client = () =>
      run(process.execPath, [...flags, '--import', 'tsx', 'examples/clients/client.ts'], {
        env: { ...process.env, URL: url },
      });
    const first = await client();
    expect(first.stdout).toBe('200 {"name":"Quercus robur"}\n200 {"name":"Rosa canina","tag":"shrub"}\n');
    const second = await client();
    expect(second.stdout).toContain('A plant with id 9007199254740992 exists.');
    expect(second.stdout).toContain('A plant with id 9007199254740993 exists.');
  });
});
