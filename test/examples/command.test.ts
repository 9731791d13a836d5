// What `npx plant-store` and `npm start` do with flags, words and variables. Only the server itself listens.
import { createServer } from 'node:http';
import { join } from 'node:path';
import * as mysql from 'plant-store/mysql';
import * as postgres from 'plant-store/postgres';
import * as sqlite from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { command } from '../../examples/server/command.js';
import { readArguments, readSettings } from '../../examples/server/settings.js';
import packageJson from '../../package.json' with { type: 'json' };
import { bundleOf } from '../support/bundle.js';
import { paste, startProgram, untilTestEnds } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { listen } from '../support/sockets.js';

/** Starts the demo server with these arguments. */
function start(args: readonly string[], env: Record<string, string> = {}) {
  return untilTestEnds(startProgram([process.execPath, bundleOf('examples/server/server.ts'), ...args], env));
}

describe('the demo server', () => {
  it('takes flags before variables, and variables without the space that cmd.exe leaves', async () => {
    const file = join(newFolder(), 'garden.db');
    const flags = ['--port', '0', '--host', 'localhost', '--token', 'a-secret', '--database', `file:${file}`];
    const program = start(flags, {
      PORT: 'x',
      HOST: '0.0.0.0 ',
      TOKEN: 'two words',
      DATABASE_URL: 'nowhere:',
    });
    await program.printed(/run in another terminal:\n {2}curl -i .*\n/);
    expect(program.output()).toMatch(
      new RegExp(`^plant-store demo server on (http://\\S+:\\d+) \\(Ctrl\\+C stops it\\)
  Endpoint  POST \\1/plants
  Token     \\(set by TOKEN, not shown\\)
  Storage   ${file}

Open \\1 in a browser, or run in another terminal:
  curl -i \\1/plants -H "Authorization: Bearer \\$TOKEN" `),
    );
    expect(readSettings({}, { PORT: '4000 ', TOKEN: ' a-secret ', DATABASE_URL: ' ' })).toMatchObject({
      port: 4000,
      token: 'a-secret',
      database: undefined,
    });
  });

  it.each([
    [['--port', 'eighty'], 'plant-store: --port must be an integer from 0 to 65535, got "eighty"'],
    [
      ['--host', '0.0.0.0'],
      'plant-store: --host 0.0.0.0 exposes the server to other machines: set --token to a secret value first',
    ],
    [['--table', 'x'], 'plant-store: --table is an option of plant-store schema only (plant-store --help)'],
    [
      ['schema', 'sqlite', '--port', '1'],
      'plant-store: --port is an option of the demo server only (plant-store --help)',
    ],
    [['schema', 'sqlite', 'more'], 'plant-store: unknown command schema sqlite more'],
    [['--prot', '1'], "plant-store: Unknown option '--prot' (plant-store --help lists the options)"],
    [
      ['--port'],
      "plant-store: Option '--port <value>' argument missing (plant-store --help lists the options)",
    ],
    [['grow'], 'plant-store: unknown command grow (plant-store --help lists the commands)'],
    [['schema'], 'plant-store: schema requires one of postgres, mysql, sqlite, got nothing'],
    [['schema', 'oracle'], 'plant-store: schema requires one of postgres, mysql, sqlite, got oracle'],
    [['schema', 'postgres', '--table', 'a.b.c'], /^plant-store: .*table.*$/],
  ])('rejects the arguments %j in one line, and exits with 1', async (args, line) => {
    const program = start(args);
    expect(await program.exit).toBe(1);
    expect(program.output().replace(/\n$/, '')).toMatch(line);
    expect(program.output().trimEnd().split('\n')).toHaveLength(1);
  });

  it('listens on an IPv6 address that is written as in a URL', async () => {
    const program = start(['--port', '0', '--host', '[::1]', '--database', 'memory:']);
    const [, url] = await program.printed(/server on (http:\/\/\[::1\]:\d+)/);
    expect((await fetch(url!)).status).toBe(200);
  });

  it.each(['--port', 'PORT'])('says in one line that the port of %s is in use', async (setting) => {
    const { port, close } = await listen(createServer());
    onTestFinished(close);
    const given = setting === 'PORT' ? [] : [setting, String(port)];
    const program = start([...given, '--database', 'memory:'], { PORT: String(port) });
    expect(await program.exit).toBe(1);
    expect(program.output()).toBe(
      `plant-store: port ${port} is already in use: set ${setting} to a free one (0 picks one)\n`,
    );
  });

  it('prints its version, and a help that names every flag', async () => {
    const version = start(['-v']);
    expect(await version.exit).toBe(0);
    expect(version.output()).toBe(`${packageJson.version}\n`);
    const help = start(['--help']);
    expect(await help.exit).toBe(0);
    for (const flag of ['port', 'host', 'token', 'database', 'table', 'help', 'version'])
      expect(help.output()).toContain(`--${flag}`);
  });
});

describe('plant-store schema', () => {
  it.each([
    [['sqlite'], `${sqlite.schema};\n`],
    [['mysql'], `${mysql.schema};\n`],
    [['postgres'], `${postgres.schema};\n`],
    [
      ['postgres', '--table', 'garden.my "plants"'],
      `${postgres.schema.replace('"plants"', '"garden"."my ""plants"""')};\n`,
    ],
    [['mysql', '--table', 'garden.plants'], `${mysql.schema.replace('`plants`', '`garden`.`plants`')};\n`],
    [['sqlite', '--table', '$&.x'], `${sqlite.schema.replace('"plants"', () => '"$&.x"')};\n`],
  ])('prints the SQL that creates the table, for %j', async (args, sql) => {
    const program = start(['schema', ...args]);
    expect(await program.exit).toBe(0);
    expect(program.output()).toBe(sql);
  });
});

describe('the printed command', () => {
  it('is one word list for sh', async () => {
    const curl = command('linux', 'http://127.0.0.1:1', 7n, undefined);
    const printed = await paste(curl.replace('curl', 'printf "%s\\n"'), { TOKEN: 'a-secret' });
    expect(printed.trim().split('\n')).toEqual([
      '-i',
      'http://127.0.0.1:1/plants',
      '-H',
      'Authorization: Bearer a-secret',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{"id":7,"name":"Rosa canina","tag":"shrub"}',
    ]);
  });

  it.each(['for-evaluation-only', undefined])(
    'on Windows has nothing in its quotes that cmd.exe and PowerShell read differently (token %s)',
    (token) => {
      const line = command('win32', 'http://127.0.0.1:3000', 7n, token);
      const [, quoted = ''] = /^powershell -Command "([^"]*)"$/.exec(line) ?? [];
      expect(quoted).toContain('Invoke-RestMethod http://127.0.0.1:3000/plants -Method Post ');
      expect(quoted).toContain("@{id=7;name='Rosa canina';tag='shrub'}");
      expect(quoted).not.toMatch(/[$`%^&|<>!]/);
    },
  );

  it('reads no flag as a word', () => {
    expect(readArguments(['schema', 'mysql', '--table', 'x'])).toEqual({
      flags: { table: 'x' },
      command: 'schema',
      words: ['mysql'],
    });
  });
});
