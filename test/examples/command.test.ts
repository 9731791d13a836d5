// What `npx plant-store` and `npm start` do with flags, words and variables. Only the server itself listens.
import { createServer } from 'node:http';
import { join } from 'node:path';
import * as mysql from 'plant-store/mysql';
import * as postgres from 'plant-store/postgres';
import * as sqlite from 'plant-store/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { command } from '../../examples/server/command.js';
import { schemaOf } from '../../examples/server/schema.js';
import { type Arguments, readArguments, readSettings } from '../../examples/server/settings.js';
import packageJson from '../../package.json' with { type: 'json' };
import { paste } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';
import { listen } from '../support/sockets.js';
import { startDemo } from './demo.js';

/** Of all commands: the compiler asks for a new one. */
const flags: Readonly<Record<keyof Arguments['flags'], true>> = {
  ...{
    port: true,
    host: true,
    token: true,
    database: true,
    quiet: true,
    table: true,
    namespace: true,
    write: true,
  },
  ...{ 'forbidden-token': true, ids: true, strict: true, yes: true, help: true, version: true },
};

/** The settings of the demo server, as its process reads them. */
function settingsOf(args: readonly string[], env: Record<string, string> = {}) {
  return readSettings(readArguments(args).flags, env);
}

describe('the demo server', () => {
  it('takes flags before variables, and variables without the space that cmd.exe leaves', async () => {
    const file = join(newFolder(), 'garden.db');
    const flags = ['--port', '0', '--host', 'localhost', '--token', 'a-secret', '--database', `file:${file}`];
    const ignored = { PORT: 'x', HOST: '0.0.0.0 ', TOKEN: 'two words', DATABASE_URL: 'nowhere:' };
    const program = startDemo(flags, ignored);
    await program.printed(/run in another terminal:\n {2}curl -i .*\n/);
    expect(program.output()).toMatch(
      new RegExp(`^plant-store demo server on (http://\\S+:\\d+) \\(Ctrl\\+C stops it\\)
  Endpoint  POST \\1/plants
  Token     \\(set by TOKEN, not shown\\)
  Storage   ${file}

Open \\1 in a browser, or run in another terminal:
  curl -i \\1/plants -H "Authorization: Bearer \\$TOKEN" `),
    );
    expect(settingsOf([], { PORT: '4000 ', TOKEN: ' a-secret ', DATABASE_URL: ' ' })).toMatchObject({
      port: 4000,
      token: 'a-secret',
      database: undefined,
    });
  });

  it('takes its defaults for variables that are empty', () => {
    const empty = { HOST: '', PORT: '', BODY_LIMIT: '', TIMEOUT_MS: '', TOKEN: '', DATABASE_URL: '' };
    expect(settingsOf([], empty)).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      bodyLimit: 1_048_576,
      timeoutMs: 30_000,
      publicToken: 'for-evaluation-only',
      database: undefined,
    });
  });

  const exposed = 'exposes the server to other machines: set';
  const aPort = 'must be an integer from 0 to 65535, got';
  it.each<[string, Record<string, string>, string]>([
    ['--port eighty', {}, `--port ${aPort} "eighty"`],
    ['', { PORT: 'eighty' }, `PORT ${aPort} "eighty"`],
    ['', { PORT: '65536' }, `PORT ${aPort} "65536"`],
    ['', { BODY_LIMIT: '0' }, 'BODY_LIMIT must be an integer from 1 to 9007199254740991, got "0"'],
    ['', { TIMEOUT_MS: '-1' }, 'TIMEOUT_MS must be an integer from 0 to 2147483647, got "-1"'],
    ['', { TIMEOUT_MS: '1.5' }, 'TIMEOUT_MS must be an integer from 0 to 2147483647, got "1.5"'],
    ['--host 0.0.0.0', {}, `--host 0.0.0.0 ${exposed} --token to a secret value first`],
    ['', { HOST: '0.0.0.0' }, `HOST 0.0.0.0 ${exposed} TOKEN to a secret value first`],
    ['--token for-evaluation-only', { HOST: '::' }, `HOST :: ${exposed} TOKEN to a secret value first`],
    ['', { TOKEN: 'two words' }, 'TOKEN may contain only A-Z a-z 0-9 - . _ ~ + / and trailing ='],
    ['--table x', {}, '--table is an option of plant-store schema only (plant-store --help)'],
    ['schema sqlite --port 1', {}, '--port is an option of the demo server only (plant-store --help)'],
    ['schema sqlite more', {}, 'unknown command schema sqlite more (plant-store --help lists the commands)'],
    ['grow', {}, 'unknown command grow (plant-store --help lists the commands)'],
    ['--prot 1', {}, "Unknown option '--prot' (plant-store --help lists the options)"],
    ['--port', {}, "Option '--port <value>' argument missing (plant-store --help lists the options)"],
  ])('rejects the arguments "%s" with the variables %j', (args, env, line) => {
    expect(() => settingsOf(args.split(' ').filter(Boolean), env)).toThrow(new Error(line));
  });

  it('ends with one line, which names the flag, and the exit code 1 for a flag that it cannot use', async () => {
    const program = startDemo(['--database', 'plants.db']);
    expect(await program.exit).toBe(1);
    expect(program.output()).toMatch(/^plant-store: --database must start with one of .*\n$/);
  });

  it('listens on an IPv6 address that is written as in a URL', async () => {
    const program = startDemo(['--port', '0', '--host', '[::1]', '--database', 'memory:']);
    const [, url] = await program.printed(/server on (http:\/\/\[::1\]:\d+)/);
    expect((await fetch(url!)).status).toBe(200);
  });

  it.each(['--port', 'PORT'])('says in one line that the port of %s is in use', async (setting) => {
    const { port, close } = await listen(createServer());
    onTestFinished(close);
    const given = setting === 'PORT' ? [] : [setting, String(port)];
    const program = startDemo([...given, '--database', 'memory:'], { PORT: String(port) });
    expect(await program.exit).toBe(1);
    expect(program.output()).toBe(
      `plant-store: port ${port} is already in use: set ${setting} to a free one (0 picks one)\n`,
    );
  });

  it('prints its version, and a help that names every flag', async () => {
    const version = startDemo(['-v']);
    expect(await version.exit).toBe(0);
    expect(version.output()).toBe(`${packageJson.version}\n`);
    const help = startDemo(['--help']);
    expect(await help.exit).toBe(0);
    for (const flag of Object.keys(flags)) expect(help.output()).toContain(`--${flag}`);
  });
});

describe('plant-store schema', () => {
  it.each([
    ['sqlite', undefined, sqlite.schema],
    ['turso', undefined, sqlite.schema],
    ['d1', undefined, sqlite.schema],
    ['mysql', undefined, mysql.schema],
    ['postgres', undefined, postgres.schema],
    ['postgres', 'garden.my "plants"', postgres.schema.replace('"plants"', '"garden"."my ""plants"""')],
    ['mysql', 'garden.plants', mysql.schema.replace('`plants`', '`garden`.`plants`')],
    ['sqlite', '$&.x', sqlite.schema.replace('"plants"', () => '"$&.x"')],
  ])('is the SQL that creates the table, for %s --table %s', (engine, table, sql) => {
    expect(schemaOf(engine, { table })).toBe(sql);
  });

  it('is printed, with the name of the table', async () => {
    const program = startDemo(['schema', 'mysql', '--table', 'garden.plants']);
    expect(await program.exit).toBe(0);
    expect(program.output()).toBe(`${schemaOf('mysql', { table: 'garden.plants' })}\n`);
  });

  it.each([
    [undefined, {}, /^schema requires one of postgres, mysql, sqlite, turso, d1, got nothing$/],
    ['oracle', {}, /^schema requires one of postgres, mysql, sqlite, turso, d1, got "oracle"$/],
    ['postgres', { table: 'a.b.c' }, /^table must be .*$/],
    ['postgres', { namespace: 'id' }, /^columns must have different names/],
  ])('rejects %s with %j', (database, options, line) => {
    expect(() => schemaOf(database, options)).toThrow(line);
  });

  it.each(['postgres', 'mysql', 'sqlite', 'turso', 'd1'])(
    'of %s, with a namespace, has an id that is unique within it',
    (database) => {
      const sql = schemaOf(database, { namespace: 'tenant' });
      expect(sql.replace(/["`]/g, '')).toMatch(/tenant \S.*NOT NULL.*PRIMARY KEY \(tenant, id\)/s);
    },
  );
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
});
