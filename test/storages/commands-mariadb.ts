// The incidents of commands.heavy.ts on MariaDB.
import { createConnection, createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { mysqlStorage, schema } from 'plant-store/mysql';
import { onTestFinished } from 'vitest';
import { type MariaDb, oneMariaDb } from '../programs/cluster/galera.js';
import { clean, until } from '../programs/cluster/machine.js';
import { freePort } from '../support/program.js';
import { type CommandCase, lineOf } from './commands.js';

let server: MariaDb;

/** Starts the server, and returns what ends it. */
export async function openMariaDb(): Promise<() => Promise<void>> {
  server = await oneMariaDb();
  await admin("CREATE USER app@'%' IDENTIFIED BY 'secret'");
  return () => clean([server.daemon], server.daemon.folder);
}

/** The client of an administrator. */
export const mariadb = (): string[] => [
  'mariadb',
  '--no-defaults',
  '--table',
  ...['--host=127.0.0.1', `--port=${server.port}`, '--user=plants', '--password=plants', 'plants'],
];

/** A table without plants, which the app may use. */
export const resetMariaDb = () =>
  admin('DROP TABLE IF EXISTS plants', schema, "GRANT SELECT, INSERT ON plants.plants TO app@'%'");

async function admin(...statements: string[]): Promise<void> {
  for (const statement of statements) await server.query(statement);
}

const address = () => ({
  host: '127.0.0.1',
  port: server.port,
  user: 'app',
  password: 'secret',
  database: 'plants',
});
const envOf = ({ host, port, user, password }: ReturnType<typeof address>) => ({
  DB_HOST: host,
  DB_PORT: String(port),
  DB_USER: user,
  DB_PASSWORD: password,
});

function poolOf(options: PoolOptions = {}): Pool {
  const pool = createPool({ ...address(), connectTimeout: 1_000, ...options });
  onTestFinished(() => pool.end());
  return pool;
}

const storageOf = (options: PoolOptions = {}) => mysqlStorage(poolOf(options), { timeoutMs: 1_500 });

/** What an app with these settings meets, and the command, too. */
function at(change: Partial<ReturnType<typeof address>>, shows: RegExp) {
  return { shows, env: envOf({ ...address(), ...change }), storage: storageOf(change) };
}

/** Another session, which has run this, until the test ends; and its number. */
async function somebody(...statements: string[]) {
  const connection = await createConnection({ ...address(), user: 'plants', password: 'plants' });
  connection.on('error', () => {});
  onTestFinished(() => connection.destroy());
  for (const statement of statements) await connection.query(statement);
  return { connection, id: connection.threadId };
}

/** Lets the test run SQL, a create fail by it, and the command show it. */
const after = (sql: string, shows: RegExp, lacks?: RegExp) => async () => {
  await admin(sql);
  return { shows, ...(lacks && { lacks }), storage: storageOf() };
};

/** A create that does not end before the test does, and the number of its session. */
async function creating(): Promise<number> {
  const created = lineOf(mysqlStorage(poolOf(), { timeoutMs: 20_000 }));
  onTestFinished(async () => void (await created));
  return until('the INSERT', async () => {
    const [row] = await server.query(
      "SELECT id FROM information_schema.processlist WHERE state = 'User sleep'",
    );
    if (!row) throw new Error('no INSERT');
    return Number(row[0]);
  });
}

const slowTrigger = (seconds: number) =>
  admin(`CREATE TRIGGER harm BEFORE INSERT ON plants FOR EACH ROW SET @slept = SLEEP(${seconds})`);

const on = 'MariaDB';

export const casesOfMariaDb: readonly CommandCase[] = [
  {
    cause: 'The server is stopped',
    on,
    provoke: async () => at({ port: await freePort() }, /Can't connect to server on '127\.0\.0\.1'/),
  },
  {
    cause: 'The name of the host is not found',
    on,
    provoke: async () => at({ host: 'plants.invalid' }, /Unknown server host 'plants\.invalid'/),
  },
  {
    cause: 'The user is locked',
    on,
    async provoke() {
      await admin("CREATE USER locked@'%' IDENTIFIED BY 'secret' ACCOUNT LOCK");
      return {
        ...at({ user: 'locked' }, /Access denied, this account is locked/),
        end: () => admin('DROP USER locked'),
      };
    },
  },
  {
    cause: 'No login comes through',
    on,
    async provoke() {
      return { shows: /have_ssl\s+DISABLED/, env: envOf(address()), storage: storageOf({ ssl: {} }) };
    },
  },
  {
    cause: 'The server has no connection left',
    on,
    async provoke() {
      await admin('SET GLOBAL max_connections = 10');
      const holders = await Promise.all(Array.from({ length: 10 }, () => createConnection(address())));
      onTestFinished(() => {
        for (const holder of holders) holder.destroy();
      });
      const end = () => admin('SET GLOBAL max_connections = 151');
      return {
        shows: /\|\s+10 \|\s+\d+ \| app\s+\| 127\.0\.0\.1 \| plants\s+\| Sleep/,
        storage: storageOf(),
        end,
      };
    },
  },
  {
    cause: 'The server is read-only',
    on,
    async provoke() {
      await admin('SET GLOBAL read_only = ON');
      return {
        shows: new RegExp(`${server.port} \\|\\s+1 \\|`),
        storage: storageOf(),
        end: () => admin('SET GLOBAL read_only = OFF'),
      };
    },
  },
  {
    cause: 'Transactions of somebody else deadlock',
    on,
    async provoke() {
      await admin("INSERT INTO plants VALUES (-1, 'a', NULL), (-2, 'b', NULL)");
      const update = (id: number) => `UPDATE plants SET tag = 'x' WHERE id = ${id}`;
      const [one, other] = [await somebody('BEGIN', update(-1)), await somebody('BEGIN', update(-2))];
      await Promise.allSettled([one.connection.query(update(-2)), other.connection.query(update(-1))]);
      return { shows: /LATEST DETECTED DEADLOCK[\s\S]*UPDATE plants SET tag/ };
    },
  },
  {
    cause: 'Another transaction has locked the table',
    on,
    async provoke() {
      const { id } = await somebody('LOCK TABLES plants READ');
      return { shows: new RegExp(`\\|\\s+${id} \\| plants \\|.*MDL_SHARED_READ_ONLY`), storage: storageOf() };
    },
  },
  {
    cause: 'The server or the network is frozen',
    on,
    async provoke() {
      const storage = storageOf();
      await storage.check();
      await server.daemon.signal('SIGSTOP');
      const end = () => server.daemon.signal('SIGCONT');
      return {
        shows: /Lost connection to server|Can't connect to server/,
        env: envOf(address()),
        storage,
        end,
      };
    },
  },
  {
    cause: 'Sessions are ended',
    on,
    async provoke() {
      const { id } = await somebody('SELECT 1');
      await admin(`KILL ${id}`);
      return { shows: /Com_kill\s+\| [1-9]/ };
    },
  },
  {
    cause: 'MySQL: the app holds all connections',
    on,
    async provoke() {
      const pool = poolOf({ connectionLimit: 1 });
      const connection = await pool.getConnection();
      onTestFinished(() => connection.release());
      const storage = mysqlStorage(pool, { timeoutMs: 1_500 });
      return { shows: /\|\s+1 \|\s+\d+ \| app\s+\| 127\.0\.0\.1 \| plants\s+\| Sleep/, storage };
    },
  },
  {
    cause: 'The table is gone',
    on,
    provoke: after('DROP TABLE plants', /Table 'plants\.plants' doesn't exist/),
  },
  {
    cause: 'The unique index is gone',
    on,
    provoke: after('ALTER TABLE plants DROP PRIMARY KEY', /CREATE TABLE `plants`/, /PRIMARY KEY/),
  },
  {
    cause: 'A new column must be filled',
    on,
    provoke: after('ALTER TABLE plants ADD note int NOT NULL', /`note` int\(11\) NOT NULL/),
  },
  {
    cause: 'A constraint, a trigger or a policy rejects nearly',
    on,
    provoke: after(
      "CREATE TRIGGER harm BEFORE INSERT ON plants FOR EACH ROW SIGNAL SQLSTATE '45000'",
      /harm\s+\| INSERT \| plants \| SIGNAL SQLSTATE '45000'/,
    ),
  },
  {
    cause: 'A grant is gone',
    on,
    provoke: after(
      "REVOKE INSERT ON plants.plants FROM app@'%'",
      /'app'@'%' +\| SELECT/,
      /'app'@'%' +\| INSERT/,
    ),
  },
  {
    cause: 'A statement or a trigger is slow',
    on,
    async provoke() {
      await slowTrigger(2);
      const id = await creating();
      return { shows: new RegExp(`\\|\\s+${id} \\|.*User sleep .*SLEEP`) };
    },
  },
  {
    cause: 'More creates arrive',
    on,
    async provoke() {
      const { connection, id } = await somebody();
      const report = connection.query('SELECT SLEEP(2) AS report');
      onTestFinished(async () => void (await report));
      await slowTrigger(1);
      await creating();
      return { shows: new RegExp(`\\|\\s+${id} \\| plants .*AS report`) };
    },
  },
  {
    cause: 'A transaction has locked a row',
    on,
    async provoke() {
      const { id } = await somebody('BEGIN', "INSERT INTO plants VALUES (1, 'held', NULL)");
      return { shows: new RegExp(`\\|\\s+${id} \\|`), storage: storageOf() };
    },
  },
];
