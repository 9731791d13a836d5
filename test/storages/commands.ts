// The first command of each row of adapters/OPERATING.md, exactly as the page has it, against its incident.
import { spawn } from 'node:child_process';
import { acceptTokens, createPlantStore, describeError, type PlantStorage } from 'plant-store';
import { createRequest } from '../support/plants.js';
import { type Row, rows } from '../support/runbook.js';

/** A row of the page, by the beginning of its cause; and on which database its command is run. */
export interface CommandCase {
  readonly cause: string;
  readonly on: string;
  readonly provoke: () => Promise<Provoked>;
}

interface Provoked {
  /** What the command shows: the culprit. */
  readonly shows: RegExp;
  /** What it does not show. */
  readonly lacks?: RegExp;
  /** The settings of the app, and files of the database. */
  readonly env?: Readonly<Record<string, string>>;
  /** On which a create fails, by a line of this row. */
  readonly storage?: PlantStorage;
  readonly end?: () => unknown;
}

/** The only row whose cause begins so. */
export function rowOfCause(cause: string): Row {
  const found = rows.filter((row) => row.cause.startsWith(cause));
  if (found.length !== 1) throw new Error(`${found.length} rows begin with "${cause}"`);
  return found[0]!;
}

/** Creates a plant, and returns the code and the line of its failure. */
export async function lineOf(storage: PlantStorage, id = 1): Promise<string> {
  let line = '';
  const onError = (error: unknown, _: unknown, code: number) => {
    line = `${code} ${describeError(error, code as never)}`;
  };
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError });
  const { status } = await handle(createRequest('secret', `{"id":${id},"name":"Rosa"}`));
  return status === 200 ? 'a plant is stored' : line;
}

/** Pastes a command into a shell, or into a client of a database, and returns what it prints. */
export async function pasted(
  command: string,
  client: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const isSql = /^(SELECT|SHOW|INSTALL|\\)/.test(command);
  const [program, ...args] = isSql ? client : ['sh', '-c', command];
  const child = spawn(program!, args, { env: { ...process.env, PGCONNECT_TIMEOUT: '10', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  // A command that reads nothing may have ended before its input does: EPIPE.
  child.stdin.on('error', () => undefined).end(isSql ? `${command}\n` : '');
  await new Promise((resolve) => child.on('close', resolve));
  return output;
}
