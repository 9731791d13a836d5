// What the demo server is started with: flags first, then variables of the environment, then defaults.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { AuditOptions } from './audit-trial.js';
import { CliError } from './cli-error.js';
import { described } from './printable.js';
import { isLoopback } from './refusals.js';

const publicToken = 'for-evaluation-only';

export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Where the port is set, for messages. */
  readonly portSetting: string;
  readonly bodyLimit: number;
  readonly timeoutMs: number;
  readonly token: string;
  /** The token if anybody may know it. A token of your own is a secret, which neither the terminal nor the page shows. */
  readonly publicToken: string | undefined;
  /** The database's URL, if it is set. */
  readonly database: string | undefined;
  /** Where it is set, for messages. */
  readonly databaseSetting: string;
  /** Whether no line is printed for each request. */
  readonly isQuiet: boolean;
}

export const usage = `Usage: plant-store [options]                  start a demo server with a page to try POST /plants
       plant-store init HOST [options]        print an app or a program that mounts it, and the migration
       plant-store schema DATABASE [options]  print the SQL that creates the table
       plant-store audit URL --token TOKEN    send the cases of the contract to a running POST URL/plants

HOST is express, koa, fastify, hono, next, sveltekit, nest, node, worker, bun or deno; DATABASE is postgres, mysql, sqlite, turso or d1.

init stores the plants in memory, or with --database DATABASE there. On the usual stacks (express with postgres, fastify with mysql, hono
with d1 or durable-object, next with turso, nest with postgres, sveltekit, bun or deno with sqlite) it is a whole app, with tenants, logins
and a test. With --write, it writes the files, and overwrites none.
schema takes the name of the table, --table NAME, and the column that an id is unique within, such as --namespace tenant.

Each option of the demo server overrides an environment variable:
  --port NUMBER    PORT           default 3000; 0 picks a free one
  --host ADDRESS   HOST           default 127.0.0.1; any other address requires a token
  --token TOKEN    TOKEN          the bearer token, default ${publicToken}
  --database URL   DATABASE_URL   file:plants.db (default), postgres://…, mysql://… or memory:
  --quiet                         print no line for each request
  --help, --version

Without an option: BODY_LIMIT (bytes, default 1048576) and TIMEOUT_MS (default 30000; 0 is no limit).

The audit creates plants that it cannot delete. It prints their ids first, and starts with --yes. Its options:
  --token TOKEN             a token that may create plants, or the environment variable TOKEN
  --forbidden-token TOKEN   a valid token that lacks the scope, to test 403
  --strict                  compare what is plant-store's own, too: error codes, headers, each byte
  --ids DIGITS              nine digits that the ids begin with; default: random ones`;

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const options = {
  port: string,
  host: string,
  token: string,
  database: string,
  table: string,
  namespace: string,
  'forbidden-token': string,
  ids: string,
  strict: boolean,
  yes: boolean,
  write: boolean,
  quiet: boolean,
  help: { ...boolean, short: 'h' },
  version: { ...boolean, short: 'v' },
} as const;

type Flag = keyof typeof options;
type Flags = { readonly [Name in Flag]?: (typeof options)[Name]['type'] extends 'string' ? string : boolean };

/** The options of each command; the demo server has no name. */
const commands: Readonly<Record<string, readonly Flag[]>> = {
  '': ['port', 'host', 'token', 'database', 'quiet'],
  init: ['database', 'write'],
  schema: ['table', 'namespace'],
  audit: ['token', 'forbidden-token', 'ids', 'strict', 'yes'],
};

export interface Arguments {
  readonly flags: Flags;
  /** `''` is the demo server. */
  readonly command: string;
  readonly words: readonly string[];
}

/** @throws {Error} with one line if there is no such command, or it has no such option */
export function readArguments(args: readonly string[]): Arguments {
  const { flags, words } = parse(args);
  const [command = '', ...rest] = words;
  if (flags.help || flags.version) return { flags, command, words: rest };
  const allowed = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (!allowed || rest.length > (command ? 1 : 0))
    throw new CliError(`unknown command ${words.join(' ')} (plant-store --help lists the commands)`);
  for (const flag of Object.keys(flags) as Flag[]) {
    if (allowed.includes(flag)) continue;
    const owners = Object.keys(commands).filter((name) => commands[name]!.includes(flag));
    const names = owners.map((name) => (name ? `plant-store ${name}` : 'the demo server'));
    throw new CliError(`--${flag} is an option of ${names.join(' and ')} only (plant-store --help)`);
  }
  return { flags, command, words: rest };
}

function parse(args: readonly string[]): { readonly flags: Flags; readonly words: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { flags: values, words: positionals };
  } catch (error) {
    const [first] = (error as Error).message.split(/\. |\n/);
    throw new CliError(`${first} (plant-store --help lists the options)`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {Error} with one line if a setting is invalid */
export function readSettings(flags: Flags, environment: Environment): Settings {
  const read = reader(flags, environment);
  const givenHost = read('HOST', 'host');
  // Brackets belong to a URL; `listen` would look for a host of that name.
  const host = givenHost.text.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1';
  const givenToken = read('TOKEN', 'token');
  const token = givenToken.text || publicToken;
  const isPublic = token === publicToken;
  const port = read('PORT', 'port');
  const database = read('DATABASE_URL', 'database');
  const settings = {
    host,
    port: integer(port, 3000, 0, 65_535),
    portSetting: port.name,
    bodyLimit: integer(read('BODY_LIMIT'), 1_048_576, 1, Number.MAX_SAFE_INTEGER),
    timeoutMs: integer(read('TIMEOUT_MS'), 30_000, 0, 2 ** 31 - 1),
    token,
    publicToken: isPublic ? token : undefined,
    database: database.text || undefined,
    databaseSetting: database.name,
    isQuiet: flags.quiet ?? false,
  };
  if (isPublic && !isLoopback(host)) {
    // By the way that the user has chosen for the host.
    const setting = givenHost.name === 'HOST' ? 'TOKEN' : '--token';
    throw new CliError(
      `${givenHost.name} ${host} exposes the server to other machines: set ${setting} to a secret value first`,
    );
  }
  checkToken(givenToken.name, token);
  return settings;
}

/** @throws {Error} with one line if a setting of the audit is missing or invalid */
export function readAuditOptions(
  flags: Flags,
  url: string | undefined,
  environment: Environment,
): AuditOptions {
  const read = reader(flags, environment);
  // With a user, a query or a fragment, `fetch` would fail, or send to another path.
  if (!/^https?:\/\/[^/@?#][^@?#]*$/.test(url ?? ''))
    throw new CliError(
      `audit requires the URL before /plants, without a user and a query, such as https://example.com/api, got ${described(url)}`,
    );
  const token = read('TOKEN', 'token');
  if (!token.text) throw new CliError('audit requires --token, or the environment variable TOKEN');
  checkToken(token.name, token.text);
  const { ids = String(randomInt(100_000_000, 1_000_000_000)) } = flags;
  if (!/^[1-9]\d{8}$/.test(ids)) throw new CliError(`--ids must be nine digits, got ${described(ids)}`);
  const forbiddenToken = flags['forbidden-token'];
  if (forbiddenToken !== undefined) checkToken('--forbidden-token', forbiddenToken);
  return { url: url!.replace(/\/$/, ''), token: token.text, forbiddenToken, ids, strict: flags.strict };
}

type Read = (variable: string, flag?: 'port' | 'host' | 'token' | 'database') => Given;

/** A setting as it was given, and where. */
interface Given {
  readonly name: string;
  readonly text: string;
}

/** Trims, because `set PORT=3000 && npm start` in cmd.exe leaves a space. An empty text means the default. */
function reader(flags: Flags, environment: Environment): Read {
  return (variable, flag) => {
    const typed = flag && flags[flag];
    return {
      name: typed === undefined ? variable : `--${flag}`,
      text: (typed ?? environment[variable] ?? '').trim(),
    };
  };
}

function checkToken(name: string, token: string): void {
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new CliError(`${name} may contain only A-Z a-z 0-9 - . _ ~ + / and trailing =`);
}

function integer({ name, text }: Given, fallback: number, min: number, max: number): number {
  if (!text) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new CliError(`${name} must be an integer from ${min} to ${max}, got ${described(text)}`);
  return value;
}
