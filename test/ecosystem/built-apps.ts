// Fresh apps of frameworks that have a build of their own: with what `plant-store init` writes, and the package as users get it.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'libsql';
import { expect } from 'vitest';
import { audit } from '../../examples/server/audit.js';
import { filesOf, type InitOptions } from '../../examples/server/init.js';
import { schemaOf } from '../../examples/server/schema.js';
import { openSocket } from '../support/connection.js';
import { ecosystemFolder } from '../support/installed.js';
import { packedPackage } from '../support/package.js';
import { createPlant } from '../support/plants.js';
import { freePort, type Program, startProgram } from '../support/program.js';
import { root } from '../support/root.js';
import { newFile } from '../support/run-folder.js';
import { raw } from '../support/sockets.js';
import { waitFor } from '../support/wait-for.js';

/** How a framework builds its apps, and starts them in production, in the folder of the app. */
export interface Framework {
  /** The files of an app without routes of its own. */
  readonly files: Readonly<Record<string, string>>;
  /** What `package.json` has besides. */
  readonly manifest?: object;
  /** What it is installed with: a framework may look into `package.json`. */
  readonly packages?: readonly string[];
  /** `{name}` is that of the app's folder. */
  readonly build: readonly [script: string, ...args: string[]];
  readonly start: readonly [script: string, ...args: string[]];
  /** What its page says to set. */
  readonly environment?: (url: string) => Record<string, string>;
}

/** An app in a folder of its own. */
export class BuiltApp {
  readonly folder = mkdtempSync(join(ecosystemFolder(), 'app-'));
  readonly #started: Program[] = [];

  constructor(readonly framework: Framework) {}

  /** Installs the package, and writes the files of the framework. */
  async create(): Promise<void> {
    const installed = join(this.folder, 'node_modules/plant-store');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['xzf', await packedPackage(), '-C', installed, '--strip-components=1']);
    cpSync(join(root, 'node_modules/valibot'), join(this.folder, 'node_modules/valibot'), {
      recursive: true,
    });
    // Next and Vite look for some packages in the folder of the app alone.
    for (const name of [
      'next',
      'react',
      'react-dom',
      'react-router',
      'svelte',
      'libsql',
      '@libsql',
      '@neon-rs',
    ])
      symlinkSync(join(ecosystemFolder(), 'node_modules', name), join(this.folder, 'node_modules', name));
    const names = ['libsql', 'plant-store', ...(this.framework.packages ?? [])];
    const dependencies = Object.fromEntries(names.map((name) => [name, '*']));
    this.write({
      'package.json': JSON.stringify({ private: true, dependencies, ...this.framework.manifest }),
      ...this.framework.files,
    });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
  }

  /** Writes what `init --write` writes here, without the migration, which it returns. */
  init(options: InitOptions): string {
    const { 'plants.sql': sql = '', ...files } = filesOf(options, this.folder);
    this.write(files);
    return sql;
  }

  /** Writes a program of `examples/`, with other words for some of its own, such as a path that an app has for it. */
  copy(name: string, path: string, ...replaced: readonly [from: string, to: string][]): void {
    let text = readFileSync(join(root, 'examples', name), 'utf8');
    for (const [from, to] of replaced) text = text.replace(from, to);
    this.write({ [path]: text });
  }

  async build(): Promise<void> {
    const built = this.#run(this.framework.build, {});
    const code = await built.exit;
    if (code !== 0) throw new Error(`the build ended with ${code}:\n${built.output()}`);
  }

  /** Starts the app in production, and resolves with its URL and its program once it responds. */
  async start(env: Record<string, string> = {}): Promise<{ url: string; program: Program }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const own = this.framework.environment?.(url);
    const program = this.#run(this.framework.start, { PORT: String(port), ...own, ...env });
    this.#started.push(program);
    await waitFor(async () => {
      if (program.child.exitCode !== null) throw new Error(program.output());
      await fetch(url, { redirect: 'manual' });
    });
    return { url, program };
  }

  /** Ends what was started, as a power cut would. */
  async stop(): Promise<void> {
    for (const { child, exit } of this.#started.splice(0)) {
      child.kill('SIGKILL');
      await exit;
    }
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #run([script, ...args]: readonly [string, ...string[]], env: Record<string, string>): Program {
    // A script of a package, or of the build.
    const file = script.replace('{name}', basename(this.folder));
    const path = script.startsWith('.')
      ? join(this.folder, file)
      : join(ecosystemFolder(), 'node_modules', file);
    const quiet = {
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      HOSTNAME: '127.0.0.1',
    };
    return startProgram([process.execPath, path, ...args], { ...quiet, ...env }, this.folder);
  }
}

/** Sends the beginning of a body, as a client that then hangs up. */
async function hangUp(url: string, way: 'reset' | 'end'): Promise<void> {
  const socket = await openSocket(Number(new URL(url).port));
  socket.on('error', () => {}).resume();
  const headers = ['Authorization: Bearer secret', 'Content-Type: application/json', 'Content-Length: 100'];
  const line = 'POST /api/plants HTTP/1.1';
  await new Promise((resolve) => socket.write(raw(headers, '{"id":', { line }), resolve));
  if (way === 'reset') socket.resetAndDestroy();
  else socket.end();
}

/**
 * Builds an app on SQLite without a database, as in an image, and runs it: what returned 200 is still there after a restart and another
 * build, no other file has it, and the audit passes.
 *
 * @param use what else is tried before the restart
 */
export async function expectNothingLost(app: BuiltApp, use: (url: string) => Promise<void>): Promise<void> {
  const DATABASE = newFile();
  const database = new Database(DATABASE);
  database.exec(schemaOf('sqlite'));
  database.close();
  await app.build();
  const first = await app.start({ DATABASE });
  const plant = '{"id":7,"name":"Ilex"}';
  expect(await createPlant(`${first.url}/api`, plant)).toMatchObject({ status: 200 });
  const lines: string[] = [];
  const options = { url: `${first.url}/api`, token: 'secret', forbiddenToken: undefined, ids: '123456789' };
  await audit(options, (line) => lines.push(line));
  expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([]);
  for (const way of ['reset', 'end'] as const) await hangUp(first.url, way);
  await use(first.url);
  // The clients that hung up are in no log.
  expect(first.program.output()).not.toMatch(/plant-store: 5/);
  await app.stop();

  // Relative to the folder that the server runs in: nothing is created.
  const relative = await app.start({ DATABASE: 'plants.db' });
  expect(await createPlant(`${relative.url}/api`, plant)).toMatchObject({ status: 503 });
  await waitFor(() =>
    expect(relative.program.output()).toContain('DATABASE must be the absolute path of a file'),
  );
  await app.stop();
  const found = readdirSync(app.folder, { recursive: true }).filter((name) => String(name).endsWith('.db'));
  expect(found).toEqual([]);

  await app.build();
  const { url } = await app.start({ DATABASE });
  expect(await createPlant(`${url}/api`, plant)).toMatchObject({ status: 400, body: { error: 40003 } });
  await app.stop();
}
