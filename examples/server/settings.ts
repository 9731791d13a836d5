// What the demo server is started with: flags first, then variables of the environment, then defaults.
import { parseArgs } from 'node:util';
import { isLoopback } from './refusals.js';

const publicToken = 'for-evaluation-only';

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly bodyLimit: number;
  readonly timeoutMs: number;
  readonly token: string;
  /** The token if anybody may know it. A token of your own is a secret, which neither the terminal nor the page shows. */
  readonly publicToken: string | undefined;
  /** The database's URL, if it is set. */
  readonly database: string | undefined;
  /** Where it is set, for messages. */
  readonly databaseSetting: string;
}

export const usage = `Usage: plant-store [options]                      start a demo server with a page to try POST /plants
       plant-store schema ENGINE [--table NAME]   print the SQL that creates the table

ENGINE is postgres, mysql or sqlite. Each option overrides an environment variable:
  --port NUMBER    PORT           default 3000; 0 picks a free one
  --host ADDRESS   HOST           default 127.0.0.1; any other address requires a token
  --token TOKEN    TOKEN          the bearer token, default ${publicToken}
  --database URL   DATABASE_URL   file:plants.db (default), postgres://…, mysql://… or memory:
  --help, --version

Without an option: BODY_LIMIT (bytes, default 1048576) and TIMEOUT_MS (default 30000; 0 is no limit).`;

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const options = {
  port: string,
  host: string,
  token: string,
  database: string,
  table: string,
  help: { ...boolean, short: 'h' },
  version: { ...boolean, short: 'v' },
} as const;

type Flags = Partial<Record<keyof typeof options, string | boolean>>;

/** @throws {Error} with one line if there is no such flag */
export function readArguments(args: readonly string[]): { readonly flags: Flags; readonly words: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { flags: values, words: positionals };
  } catch (error) {
    const [first] = (error as Error).message.split(/\. |\n/);
    throw new Error(`${first} (plant-store --help lists the options)`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {Error} with one line if a setting is invalid */
export function readSettings(flags: Flags, environment: Environment): Settings {
  // Trimmed, because `set PORT=3000 && npm start` in cmd.exe leaves a space. An empty one means the default.
  const read = (variable: string, flag?: keyof Flags) => {
    const isFlag = flag !== undefined && flags[flag] !== undefined;
    const text = String((isFlag ? flags[flag] : environment[variable]) ?? '').trim();
    return { name: isFlag ? `--${flag}` : variable, text };
  };
  const host = read('HOST', 'host').text || '127.0.0.1';
  const token = read('TOKEN', 'token').text || publicToken;
  const isPublic = token === publicToken;
  const database = read('DATABASE_URL', 'database');
  const settings = {
    host,
    port: integer(read('PORT', 'port'), 3000, 0, 65_535),
    bodyLimit: integer(read('BODY_LIMIT'), 1_048_576, 1, Number.MAX_SAFE_INTEGER),
    timeoutMs: integer(read('TIMEOUT_MS'), 30_000, 0, 2 ** 31 - 1),
    token,
    publicToken: isPublic ? token : undefined,
    database: database.text || undefined,
    databaseSetting: database.name,
  };
  if (isPublic && !isLoopback(host))
    throw new Error(`HOST ${host} exposes the server to other machines: set TOKEN to a secret value first`);
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new Error('TOKEN may contain only A-Z a-z 0-9 - . _ ~ + / and trailing =');
  return settings;
}

function integer(
  { name, text }: { readonly name: string; readonly text: string },
  fallback: number,
  min: number,
  max: number,
): number {
  if (!text) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new Error(`${name} must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`);
  return value;
}
