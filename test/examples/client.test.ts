import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { examples } from '../support/examples.js';
import { runExample, urlOf } from '../support/program.js';

const run = promisify(execFile);

describe('the client sends ids beyond 2^53 digit by digit', () => {
  it('and prints the plants, then why it cannot create them again', async () => {
    const url = await urlOf(runExample('server', { DATABASE_URL: 'memory:' }));
    const client = () =>
      run(process.execPath, ['--import', 'tsx', examples.get('client')!], {
        env: { ...process.env, URL: url },
      });
    const first = await client();
    expect(first.stdout).toBe("{ name: 'Rosa canina', tag: 'shrub' }\n".repeat(2));
    const second = await client();
    expect(second.stdout).toBe(
      ['9007199254740992', '9007199254740993']
        .map((id) => `id_taken no A plant with id ${id} exists. Choose another id.\n`)
        .join(''),
    );
  });
});
