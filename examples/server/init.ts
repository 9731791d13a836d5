// `plant-store init`: the app of a page of examples/stacks/, or else the program of a host and the migration of a database. The
// tests run all of them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CliError } from './cli-error.js';
import { described } from './printable.js';
import { databases, schemaOf } from './schema.js';
import { databasesOf, filesOfStack, hostsOn, hostsWithPage, type InitFiles, stackOf } from './stacks.js';

interface Host {
  /** Its file in `examples/`. */
  readonly example: string;
  /** What an app has it in. */
  readonly file: string;
  /** Whether its build loads the file, too. */
  readonly isBuilt?: boolean;
}

const hosts: Readonly<Record<string, Host>> = {
  express: { example: 'hosts/express', file: 'server' },
  koa: { example: 'hosts/koa', file: 'server' },
  fastify: { example: 'hosts/fastify', file: 'server' },
  hono: { example: 'hosts/hono', file: 'server' },
  next: { example: 'hosts/next-route', file: 'app/api/plants/route', isBuilt: true },
  sveltekit: { example: 'hosts/sveltekit', file: 'src/routes/api/plants/+server', isBuilt: true },
  nest: { example: 'hosts/nest-plants', file: 'src/plants.module' },
  node: { example: 'hosts/node-http', file: 'server' },
  worker: { example: 'hosts/worker', file: 'src/index' },
};

/** Where a host reaches a database in a way of its own. D1 is reached by a Worker alone, and a Worker reaches these alone. */
const special: Readonly<Record<string, typeof hosts>> = {
  d1: {
    next: { example: 'hosts/next-d1', file: 'app/api/plants/route' },
    worker: { example: 'storages/worker-d1', file: 'src/index' },
  },
  postgres: { worker: { example: 'storages/worker-postgres', file: 'src/index' } },
};

export interface InitOptions {
  readonly host: string | undefined;
  /** The engine. Default: none, the plants are in memory. */
  readonly database: string | undefined;
}

/**
 * Returns the app of the host's page on this database; without such a page, the program that serves plants on the host and, for
 * a database, the SQL that creates the table.
 *
 * @param folder the app's, whose language and layout the files follow
 * @throws {Error} with one line if there is no such host or database
 */
export function filesOf({ host, database }: InitOptions, folder: string): InitFiles {
  const stack = stackOf(host, database);
  if (stack) return filesOfStack(stack, ofPackage, host);
  const known = host !== undefined && Object.hasOwn(hosts, host) && hosts[host];
  if (!known) throw new CliError(unknownHost(host));
  const found = database === undefined ? known : hostOn(database, host, known);
  // Nest's decorators are TypeScript, and wrangler builds it without a tsconfig.json.
  const isTypeScript = host === 'nest' || host === 'worker' || existsSync(join(folder, 'tsconfig.json'));
  const isNext = host === 'next';
  // Node reads a .js file as a module only if package.json says so; Next and SvelteKit read no .mjs.
  const end = isTypeScript ? 'ts' : known.isBuilt ? 'js' : 'mjs';
  const below = isNext && existsSync(join(folder, 'src/app')) ? 'src/' : '';
  const typed = `${ofDevelopment}\n${programOf(found, database)}`;
  const program = isTypeScript ? typed : typed.replace(annotations, '');
  const file = `${below}${found.file}.${end}`;
  if (!database) return { [file]: program };
  return { [file]: program, 'plants.sql': `${schemaOf(database)}\n` };
}

/** What is wrong with a host without a program: it has a page alone, on another database, or there is no such host. */
function unknownHost(host: string | undefined): string {
  const [database] = host === undefined ? [] : databasesOf(host);
  if (database) return `${host} requires --database ${database}`;
  const names = new Set([...Object.keys(hosts), ...hostsWithPage]);
  return `init requires one of ${[...names].join(', ')}, got ${described(host)}`;
}

/** @throws {Error} with one line if there is no such database, or not on this host */
function hostOn(database: string, host: string, known: Host): Host {
  const [only] = databases.includes(database) ? [] : hostsOn(database);
  if (only) throw new CliError(`--database ${database} requires ${only}, got ${host}`);
  if (!databases.includes(database))
    throw new CliError(`--database must be one of ${databases.join(', ')}, got ${described(database)}`);
  const own = special[database]?.[host];
  if (own) return own;
  if (database === 'd1') throw new CliError(`--database d1 requires hono, next or worker, got ${host}`);
  if (host === 'worker')
    throw new CliError(`worker requires --database ${Object.keys(special).join(' or ')}, got ${database}`);
  return known;
}

/** Where a line of the log sends those who develop. */
const ofDevelopment =
  "// While you develop, the options { onError: logWithMessages } of createPlantStore, from 'plant-store', print each error.";

/** The types of the examples that are in JavaScript, too. */
const annotations =
  /^import type .*\n|: PlantStorage(?= =)|: \{ request: Request \}(?=\))|: ReturnType<typeof open> \| undefined/gm;

/** What to do with `files`: commands, and what to replace. */
export function nextSteps(files: InitFiles, { host, database }: InitOptions): string {
  const stack = stackOf(host, database);
  if (stack)
    return `Next: node_modules/plant-store/${stack} says what to install, and how to test and start the app.`;
  const [file = '', program = ''] = Object.entries(files)[0]!;
  const imported = [...program.matchAll(/ from '([^.'][^']*)'/g)].map(([, specifier]) => specifier!);
  const packages = imported
    .filter((specifier) => !/^(node|cloudflare):/.test(specifier))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
  const commands = [`npm install ${[...new Set(['plant-store', ...packages])].join(' ')}`];
  const types = packages.filter((name) => withTypesApart.includes(name)).map((name) => `@types/${name}`);
  if (types.length > 0 && file.endsWith('.ts')) commands.push(`npm install --save-dev ${types.join(' ')}`);
  if (database) commands.push(...migrations[database]!);
  if (/^server\./.test(file)) commands.push(`${file.endsWith('.ts') ? 'npx tsx' : 'node'} ${file}`);
  const notes = [
    ...(database
      ? []
      : ['Plants are in memory, lost on exit. To keep them: --database postgres, mysql, sqlite or turso.']),
    ...(database === 'sqlite' ? [fileNote] : []),
    ...notesOf({ host, database }),
    ...(program.includes('acceptTokens')
      ? ["Replace acceptTokens('secret') with your own function: README.md, Authentication."]
      : []),
  ];
  return `Next:\n${commands.map((command) => `  ${command}\n`).join('')}\n${notes.join('\n')}`;
}

/** The packages whose types are a package of their own, without which a TypeScript app does not compile. */
const withTypesApart = ['express', 'koa', 'koa-mount', 'pg'];

/** What a host requires beside the file. */
function notesOf({ host, database }: InitOptions): string[] {
  if (host === 'nest')
    return [
      'Add PlantsModule to the imports of AppModule, and to src/main.ts, with the last line after NestFactory.create:',
      "  import { toExpress } from 'plant-store/express';",
      "  import { PlantsService } from './plants.module.js';",
      "  app.use('/api', toExpress(app.get(PlantsService).handle)); // POST /api/plants",
      'Replace the body of TokenService with your own: README.md, Authentication.',
    ];
  const isFile = database === 'sqlite';
  const isServerless = host === 'next' || host === 'sveltekit';
  return [
    ...(isServerless && (isFile || !database)
      ? [
          'A serverless host, such as Vercel, keeps neither memory nor files: use --database postgres, mysql or turso there.',
        ]
      : []),
    ...(isServerless && database
      ? [
          `Run the migration before you deploy: ${host === 'next' ? 'next' : 'vite'} build loads the route, so an await createTable() in it would need the database.`,
        ]
      : []),
    ...(host === 'sveltekit' ? [sveltekitNote] : []),
  ];
}

const sveltekitNote =
  'On adapter-node, set BODY_SIZE_LIMIT=2M: its 512 kB is below bodyLimit. Set ORIGIN, or paths.origin of SvelteKit 3, if forms are to be sent.';

const fileNote =
  'The server needs DATABASE, too: an absolute path outside the folders that a build or a deployment replaces, in a container on a volume.';

const migrations: Readonly<Record<string, readonly string[]>> = {
  postgres: ['psql "$DATABASE_URL" -f plants.sql'],
  mysql: ['mysql plants < plants.sql'],
  sqlite: ['export DATABASE="$HOME/plants.db"', 'sqlite3 "$DATABASE" < plants.sql'],
  turso: ['turso db shell "$TURSO_DATABASE_URL" < plants.sql', '# For a file: sqlite3 local.db < plants.sql'],
  d1: ['npx wrangler d1 execute DB --remote --file plants.sql'],
};

/** Writes the files that do not exist yet, and returns their paths. */
export function writeNew(files: InitFiles, folder: string): string[] {
  const missing = Object.entries(files).filter(([path]) => !existsSync(join(folder, path)));
  for (const [path, text] of missing) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  return missing.map(([path]) => path);
}

/** The example of a host, on the storage of a database instead of memory. */
function programOf(host: Host, database: string | undefined): string {
  const program = example(host.example).replace(/^(\/\/ .*\n)+/, '');
  if (!database || !program.includes('memoryStorage()')) return program;
  const isLater = host.isBuilt && database === 'sqlite';
  const [imports, statements] = parts(example(`init/${database}-storage${isLater ? '-later' : ''}`));
  const [hostImports, hostStatements] = parts(program);
  return `${hostImports.replace(/^.*'plant-store\/memory';$/m, imports)}

${statements.replace('export const', 'const')}
${hostStatements.replace('memoryStorage()', 'storage')}`;
}

/** The imports of a program, and what follows them. */
function parts(program: string): [imports: string, statements: string] {
  const end = program.indexOf('\n\n');
  return [program.slice(0, end), program.slice(end + 2)];
}

const example = (name: string) => ofPackage(`examples/${name}.ts`);

/** The examples and the pages are in the package, so that what is printed is what the tests run. */
function ofPackage(path: string): string {
  const root = dirname(createRequire(import.meta.url).resolve('plant-store/package.json'));
  return readFileSync(join(root, path), 'utf8');
}
