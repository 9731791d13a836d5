// A rolling restart of two instances behind nginx, under load, as adapters/OPERATING.md describes it.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { schema } from 'plant-store/postgres';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ownServer } from '../storages/postgres-server.js';
import { openSocket } from '../support/connection.js';
import { describeUnless } from '../support/obstacle.js';
import { freePort, runExample, startProgram } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';
import { waitFor } from '../support/wait-for.js';

const missing = spawnSync('nginx', ['-v']).error && 'nginx is not installed: apt-get install nginx';

/** nginx with the configuration of the page, in front of these ports. */
class Nginx {
  readonly #folder = newFolder();
  readonly #file = join(this.#folder, 'nginx.conf');
  #reload = () => {};

  constructor(
    readonly port: number,
    readonly instances: readonly number[],
  ) {}

  async start(): Promise<void> {
    this.#write();
    const errors = join(this.#folder, 'errors');
    const { child, exit, output } = startProgram([
      'nginx',
      '-p',
      this.#folder,
      '-e',
      errors,
      '-c',
      this.#file,
    ]);
    onTestFinished(async () => {
      // Not SIGKILL, which its workers would survive.
      child.kill('SIGTERM');
      await exit;
    });
    this.#reload = () => void child.kill('SIGHUP');
    await Promise.race([exit, waitFor(async () => (await openSocket(this.port)).destroy())]);
    expect(child.exitCode, output()).toBe(null);
  }

  /** Takes the instance out, or none, and reloads the configuration. */
  without(instance?: number): void {
    this.#write(instance);
    this.#reload();
  }

  #write(without?: number): void {
    const shown = readFileSync(join(root, 'examples/cluster/nginx/plants.conf'), 'utf8');
    const [first, second] = this.instances.map(
      (port) => `127.0.0.1:${port}${port === without ? ' down' : ''}`,
    );
    const plants = shown
      .replace('10.0.0.21:3000', first!)
      .replace('10.0.0.22:3000', second!)
      .replace('listen 80', `listen 127.0.0.1:${this.port}`);
    // nginx as root gives its files to another account, which cannot enter this folder.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (what) => `${what}_temp_path ${this.#folder}/${what};`,
    );
    writeFileSync(
      this.#file,
      `daemon off; worker_processes 2; ${user} pid ${this.#folder}/pid; error_log ${this.#folder}/errors;
       events {}
       http { access_log off; ${paths.join(' ')}
       ${plants} }`,
    );
  }
}

/** The status of a create on a connection of its own, 0 if that broke. */
const statusOf = (port: number, id: number) =>
  new Promise<number>((resolve) => {
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    const options = { port, path: '/api/plants', method: 'POST', headers, agent: false };
    const creating = request(options, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? response.statusCode! : 0));
    });
    creating.on('error', () => resolve(0));
    creating.end(`{"id":${id},"name":"plant ${id}"}`);
  });

describeUnless(missing, 'a rolling restart behind nginx', () => {
  const own = ownServer();
  beforeAll(() => own.pool.query(schema));

  it('returns 200 for every plant, and every one is stored', async () => {
    const instances = [await freePort(), await freePort()];
    const nginx = new Nginx(await freePort(), instances);
    const start = async (port: number) => {
      const env = { DATABASE_URL: own.server.url, PORT: String(port), DRAIN_MS: '500' };
      const program = runExample('shutdown-express', env);
      await program.printed(/port: \d+/);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      return program;
    };
    const programs = await Promise.all(instances.map(start));
    await nginx.start();

    const created: number[] = [];
    const others: number[] = [];
    let ids = 0;
    let isStopped = false;
    const clients = Array.from({ length: 16 }, async () => {
      while (!isStopped) {
        const id = ids++;
        const status = await statusOf(nginx.port, id);
        if (status === 200) created.push(id);
        else others.push(status);
      }
    });
    onTestFinished(() => {
      isStopped = true;
    });
    const someMore = (count = created.length) =>
      waitFor(() => expect(created.length).toBeGreaterThan(count + 200));

    for (const [i, port] of instances.entries()) {
      await someMore();
      nginx.without(port);
      programs[i]!.child.kill('SIGTERM');
      expect(await programs[i]!.exit).toBe(0);
      await someMore();
      programs[i] = await start(port);
      nginx.without();
    }
    await someMore();
    isStopped = true;
    await Promise.all(clients);

    expect(others).toEqual([]);
    const { rows } = await own.pool.query('SELECT id::int FROM plants ORDER BY id');
    expect(rows.map(({ id }) => id)).toEqual(created.sort((a, b) => a - b));
  });
});
