// The package is installed in apps as they are, by each package manager: none refuses or warns, now or at the next install.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ecosystemFolder } from '../support/installed.js';
import { packedPackage } from '../support/package.js';

/** What apps have, the oldest of everything, what was usual two years ago, and the newest: most of it unused by plant-store. */
const apps = {
  oldest: {
    '@electric-sql/pglite': '0.2.0',
    'better-sqlite3': '7.0.0',
    express: '4.0.0',
    fastify: '3.29.5',
    koa: '2.0.0',
    libsql: '0.3.19',
    mysql2: '2.3.3',
    pg: '8.7.3',
    postgres: '3.3.5',
  },
  // Without libsql, whose old packages for other systems Yarn looks for, and a registry may lack.
  old: {
    'better-sqlite3': '9.4.0',
    express: '4.16.4',
    fastify: '4.24.3',
    koa: '2.14.2',
    mysql2: '3.5.2',
    pg: '8.11.3',
    postgres: '3.4.5',
  },
  'of one framework and one database': { express: '4.18.2', pg: '8.20.0', sequelize: '6.33.0' },
  newest: {
    '@electric-sql/pglite': '*',
    'better-sqlite3': '*',
    express: '*',
    fastify: '*',
    koa: '*',
    libsql: '*',
    mysql2: '*',
    pg: '*',
    postgres: '*',
  },
};

type App = keyof typeof apps;

/** Of each package manager its program, how it adds a package without its scripts, and how it says that all is well. */
const npm = {
  add: ['install', '--ignore-scripts', '--package-lock-only', '--no-audit', '--no-fund', '--prefer-offline'],
  list: ['ls', '--package-lock-only'],
};
const pnpm = { add: ['add', '--ignore-scripts', '--lockfile-only', '--prefer-offline'], list: undefined };
const berry = { add: ['add', '--mode=update-lockfile'], list: undefined };
const managers = {
  'npm-8': { program: 'bin/npm-cli.js', ...npm },
  'npm-9': { program: 'bin/npm-cli.js', ...npm },
  'npm-10': { program: 'bin/npm-cli.js', ...npm },
  'npm-11': { program: 'bin/npm-cli.js', ...npm },
  'pnpm-8': { program: 'bin/pnpm.cjs', ...pnpm },
  'pnpm-12': { program: 'bin/pnpm.mjs', ...pnpm },
  'yarn-1': {
    program: 'bin/yarn.js',
    add: ['add', '--ignore-scripts', '--prefer-offline', '--non-interactive'],
    list: ['check', '--verify-tree'],
  },
  'yarn-3': { program: 'bin/yarn.js', ...berry },
  'yarn-4': { program: 'bin/yarn.js', ...berry },
};

type Manager = keyof typeof managers;

let temp: string;
let tarball: string;
let registry: string;

beforeAll(async () => {
  temp = realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-installs-')));
  tarball = await packedPackage();
  registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
}, 600_000);

afterAll(() => rmSync(temp, { recursive: true, force: true }));

/** An app in a folder of its own, which `add` installs further packages in. */
class Project {
  readonly #folder = mkdtempSync(join(temp, 'app-'));
  readonly #manager: Manager;

  constructor(manager: Manager, app: App) {
    this.#manager = manager;
    const manifest = { name: 'app', version: '1.0.0', private: true, dependencies: apps[app] };
    writeFileSync(join(this.#folder, 'package.json'), JSON.stringify(manifest));
    // Yarn takes a folder above for the project otherwise.
    if (manager.startsWith('yarn')) writeFileSync(join(this.#folder, 'yarn.lock'), '');
  }

  add(specifier: string) {
    return this.#run([...managers[this.#manager].add, specifier]);
  }

  list() {
    const { list } = managers[this.#manager];
    return list && this.#run(list);
  }

  /** Returns how the program ends, and each line that has to do with plant-store or its peers and is no progress. */
  #run(args: readonly string[]) {
    const file = join(ecosystemFolder(), 'node_modules', this.#manager, managers[this.#manager].program);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
      cwd: this.#folder,
      encoding: 'utf8',
      // It blocks, so that no timeout of the test ends it: a registry may let it wait for ever.
      timeout: 240_000,
      killSignal: 'SIGKILL',
      env: {
        ...process.env,
        npm_config_registry: registry,
        YARN_NPM_REGISTRY_SERVER: registry,
        YARN_REGISTRY: registry,
        YARN_ENABLE_TELEMETRY: '0',
        YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
        YARN_CHECKSUM_BEHAVIOR: 'update',
      },
    });
    const lines = `${stdout}\n${stderr}`.split('\n');
    const complaints = lines.filter((line) =>
      /ERESOLVE|ELSPROBLEMS|invalid:|unmet|peer|warn.*plant-store|YN0002|YN0060/i.test(line),
    );
    return { status, complaints, ...(status ? { lines } : {}) };
  }
}

const clean = { status: 0, complaints: [] };

/** The oldest and the newest npm in each app, because npm alone refuses; the others in one. */
const cases = Object.keys(managers).flatMap((manager) =>
  (Object.keys(apps) as App[])
    .filter((app) => app === 'old' || manager === 'npm-8' || manager === 'npm-11')
    .map((app) => [manager as Manager, app] as const),
);

describe('an app takes plant-store', () => {
  it.each(cases)(
    'by %s, with packages that are %s, and then the next package',
    (manager, app) => {
      const project = new Project(manager, app);
      expect(project.add(`plant-store@file:${tarball}`)).toEqual(clean);
      expect(project.list() ?? clean).toEqual(clean);
      expect(project.add('is-number@7.0.0')).toEqual(clean);
      expect(project.list() ?? clean).toEqual(clean);
    },
    300_000,
  );
});

it.each(['npm-8', 'npm-11'] as const)(
  'by %s, a package that names an optional peer in a newer version is refused',
  (manager) => {
    const folder = join(temp, `peers-${manager}`);
    mkdirSync(folder);
    const manifest = {
      name: 'peers',
      version: '1.0.0',
      peerDependencies: { pg: '^8.21.0' },
      peerDependenciesMeta: { pg: { optional: true } },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json'], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
    const { status, complaints } = new Project(manager, 'old').add(
      `peers@file:${join(folder, packed.filename)}`,
    );
    expect([status, complaints.join()]).toEqual([1, expect.stringContaining('ERESOLVE')]);
  },
);
