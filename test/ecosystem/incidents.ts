/** Incidents, whose fault each is, and what tells it: the rows of adapters/OPERATING.md. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Doorway } from '../support/doorway.js';
import type { PostgresServer } from '../support/postgres.js';
import type { Program } from '../support/program.js';
import type { Party } from '../support/runbook.js';
import type { AlertLoad } from './alert-load.js';

/** What one incident has for itself: an app, whatever its database. */
export interface Plot {
  /** The name of its database, and of the user of the app. */
  readonly name: string;
  readonly load: AlertLoad;
  readonly program: Program;
  /** Calls the app. */
  readonly tell: (path: string) => Promise<unknown>;
}

/** With a database of PostgreSQL. */
export interface Garden extends Plot {
  /** What is between the app and the server. */
  readonly doorway: Doorway;
  readonly server: PostgresServer;
  /** Of its database, as an administrator. */
  readonly pool: pg.Pool;
  /** Of the server, from another database. */
  readonly admin: pg.Pool;
}

export interface Incident<Where extends Plot = Garden> {
  readonly name: string;
  readonly party: Party;
  /** Harms it, and returns the remedy. */
  // biome-ignore lint/suspicious/noConfusingVoidType: what has no remedy returns nothing
  readonly provoke: (garden: Where) => Promise<(() => unknown) | void>;
  /** In the first line that the log has of it. */
  readonly line?: RegExp;
  /** The page that comes first, if one does; or what may come first. */
  readonly page?: string | readonly (string | undefined)[];
  /** What the gauges show of it: an expression that is not empty. */
  readonly gauge?: string;
  /** A ticket that comes. */
  readonly ticket?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
  /** Another instance of the app has the same database: `well`, or harmed by the same. */
  readonly other?: 'well' | 'harmed';
  /** The size of the disk of its database. */
  readonly diskMiB?: number;
  /** A server of its own, which it harms. */
  readonly isServerOwn?: boolean;
}

const quoted = ({ name }: Garden) => `"${name}"`;

/** Ends the sessions of the app, so that it logs in again. */
const endSessions = ({ admin, name }: Garden) =>
  admin.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name <> 'test'",
    [name],
  );

/** Runs SQL as an administrator, and other SQL as the remedy. */
const sql = (text: string, remedy?: string) => async (garden: Garden) => {
  await garden.pool.query(text);
  return remedy === undefined ? undefined : () => garden.pool.query(remedy);
};

/** Changes the database, for the sessions that begin. */
export const altered = (change: string, remedy: string) => async (garden: Garden) => {
  const alter = async (text: string) => {
    await garden.admin.query(`ALTER DATABASE ${quoted(garden)} ${text}`);
    await endSessions(garden);
  };
  await alter(change);
  return () => alter(remedy);
};

export const trigger = (body: string, each: 'ROW' | 'STATEMENT' = 'ROW') =>
  sql(
    `CREATE FUNCTION harm() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN new; END $$;
    CREATE TRIGGER harm BEFORE INSERT ON plants FOR EACH ${each} EXECUTE FUNCTION harm()`,
    'DROP TRIGGER harm ON plants; DROP FUNCTION harm()',
  );

/** Runs this in a transaction that stays open until the remedy. */
const holding =
  (statement: string, after: (garden: Garden) => void = () => {}) =>
  async (garden: Garden) => {
    const holder = await garden.pool.connect();
    await holder.query(`BEGIN; ${statement}`);
    after(garden);
    return async () => {
      await holder.query('ROLLBACK');
      holder.release();
    };
  };

export const toApp = (name: string) => async (garden: Plot) => {
  await garden.tell(`harm/${name}`);
  return () => garden.tell('heal');
};

/** Something that the connections meet which come from now on. */
const toLogins = (name: string) => async (garden: Garden) => {
  await garden.tell(`harm/${name}`);
  await endSessions(garden);
  return undefined;
};

/** Does this ten times a second. Statements are slow meanwhile: a fast machine would commit between two times. */
export const inSlowStatements =
  <Where extends Plot>(slow: Incident<Where>['provoke'], harm: (garden: Where) => Promise<unknown>) =>
  async (garden: Where) => {
    const remedy = await slow(garden);
    const repeating = setInterval(() => void harm(garden).catch(() => {}), 100);
    const stop = () => clearInterval(repeating);
    onTestFinished(stop);
    return async () => {
      stop();
      await remedy?.();
    };
  };

/** An issuer that takes connections, and answers after 3 s or never; at another path it has gone. */
export async function startIssuer(): Promise<string> {
  const issuer = createServer((request, response) => {
    if (request.url === '/slow') setTimeout(() => response.end(), 3_000);
    if (request.url === '/refused') request.socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    issuer.close();
    issuer.closeAllConnections();
  });
  await once(issuer, 'listening');
  return `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
}

export const unavailable = {
  party: 'database',
  page: 'PlantStoreUnavailable',
  // Calls that end at once, as when a login is refused, open no circuit.
  gauge:
    'plant_store_circuit_open == 1 or plant_store_in_flight_seconds > 1 or increase(plant_store_batches_total{end="unavailable"}[1m]) > 0',
} as const;
export const unusable = { party: 'developers', page: 'PlantStoreTableUnusable' } as const;
const unverified = { party: 'issuer', page: 'PlantStoreVerifierDown' } as const;
export const cannotUse = /50004 .*plant-store cannot use the table/;

export const incidentsOfDatabase: readonly Incident[] = [
  {
    ...unavailable,
    name: 'the database is stopped',
    isServerOwn: true,
    async provoke({ server }) {
      await server.stop();
      return () => server.restart();
    },
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'the database is frozen',
    isServerOwn: true,
    provoke: async ({ server }) => server.freeze(),
    ticket: 'PlantStoreCallsFailed',
    line: /50001 .*did not answer within 10000 ms/,
  },
  {
    ...unavailable,
    name: 'it is a read-only standby',
    provoke: altered('SET default_transaction_read_only = on', 'RESET default_transaction_read_only'),
    line: /50301 .* 25006 read_only_sql_transaction\. The server is read-only/,
  },
  {
    ...unavailable,
    name: 'it takes no logins',
    provoke: altered('ALLOW_CONNECTIONS false', 'ALLOW_CONNECTIONS true'),
    line: /50301 .*the server refuses the login/,
  },
  {
    ...unavailable,
    name: 'it has no connection left',
    provoke: altered('CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'),
    line: /50301 .* 53300 too_many_connections\. The server has no connection left/,
  },
  {
    ...unavailable,
    name: 'the user may no longer log in',
    async provoke(garden) {
      await garden.admin.query(`ALTER ROLE "${garden.name}" NOLOGIN`);
      await endSessions(garden);
      return () => garden.admin.query(`ALTER ROLE "${garden.name}" LOGIN`);
    },
    line: /50301 .*the server refuses the login.* 28000 invalid_authorization_specification/,
  },
  {
    ...unavailable,
    name: 'the whole table is locked',
    provoke: holding('LOCK TABLE plants'),
    line: /50301 .* 57014 query_canceled.*\. The statement was cancelled/,
  },
  {
    ...unavailable,
    name: 'its disk is full',
    provoke: trigger("RAISE 'no space left on device' USING ERRCODE = 'disk_full'"),
    line: /50301 .* 53100 disk_full.*\. The disk is full/,
  },
  {
    ...unavailable,
    name: 'each transaction deadlocks',
    provoke: trigger("RAISE 'deadlock detected' USING ERRCODE = 'deadlock_detected'"),
    line: /50301 .* 40P01 deadlock_detected.*\. Transactions collide/,
  },
  {
    ...unavailable,
    name: 'each statement outlasts statement_timeout',
    provoke: trigger('PERFORM pg_sleep(6)', 'STATEMENT'),
    line: /50301 .* 57014 query_canceled.*\. The statement was cancelled/,
  },
  {
    name: 'it kills sessions',
    party: 'database',
    page: ['PlantStoreConnectionsLost', 'PlantStoreUnavailable'],
    provoke: inSlowStatements(trigger('PERFORM pg_sleep(0.5)', 'STATEMENT'), endSessions),
    line: /50[03]01 /,
  },
  {
    name: 'a statement takes 3 s',
    party: 'database',
    page: ['PlantStoreCallsSlow', 'PlantStoreSlow'],
    gauge: 'plant_store_in_flight_seconds > 1',
    provoke: trigger('PERFORM pg_sleep(3)', 'STATEMENT'),
  },
  {
    name: 'a trigger takes 250 ms a row',
    party: 'database',
    page: 'PlantStoreSlow',
    async provoke(garden) {
      garden.load.start(7, 0);
      return trigger('PERFORM pg_sleep(0.25)')(garden);
    },
  },
  {
    name: 'more creates arrive than it commits',
    party: 'database',
    page: 'PlantStoreQueueLong',
    gauge: 'plant_store_queued > 10',
    env: { MAX_QUEUED: '40' },
    async provoke(garden) {
      garden.load.start(60, 100);
      return trigger('PERFORM pg_sleep(0.02)')(garden);
    },
    line: /50301 .*the storage queue is full/,
  },
];

const ofTable: readonly Incident[] = [
  {
    ...unusable,
    name: 'the table is gone',
    provoke: sql('ALTER TABLE plants RENAME TO old', 'ALTER TABLE old RENAME TO plants'),
    line: cannotUse,
  },
  {
    ...unusable,
    name: 'its unique index is gone',
    provoke: sql('ALTER TABLE plants DROP CONSTRAINT plants_pkey', 'ALTER TABLE plants ADD PRIMARY KEY (id)'),
    line: cannotUse,
  },
  {
    ...unusable,
    name: 'a new column must be filled',
    provoke: sql(
      "ALTER TABLE plants ADD note text NOT NULL DEFAULT ''; ALTER TABLE plants ALTER note DROP DEFAULT",
      'ALTER TABLE plants DROP note',
    ),
    line: cannotUse,
  },
  {
    ...unusable,
    name: 'a grant is revoked',
    async provoke({ pool, name }) {
      await pool.query(`REVOKE INSERT ON plants FROM "${name}"`);
      return () => pool.query(`GRANT INSERT ON plants TO "${name}"`);
    },
    line: cannotUse,
  },
  {
    ...unusable,
    name: 'a constraint rejects all plants',
    provoke: sql(
      'ALTER TABLE plants ADD CONSTRAINT nothing CHECK (false) NOT VALID',
      'ALTER TABLE plants DROP CONSTRAINT nothing',
    ),
    line: /50004 .* 23514 check_violation.*constraint nothing/,
  },
  {
    name: 'a constraint rejects some plants',
    party: 'developers',
    async provoke(garden) {
      const add = 'ALTER TABLE plants ADD CONSTRAINT positive CHECK (id <> -1)';
      const remedy = await sql(add, 'ALTER TABLE plants DROP CONSTRAINT positive')(garden);
      garden.load.startOne(-1);
      return remedy;
    },
    line: /50004 .* 23514 check_violation.*constraint positive/,
  },
  {
    name: 'a row is locked',
    party: 'developers',
    ticket: 'PlantStoreRolledBack',
    provoke: holding("INSERT INTO plants VALUES (-1, 'held')", ({ load }) => load.startOne(-1)),
    line: /50301 .*another transaction has locked the row/,
  },
];

const ofNetwork: readonly Incident[] = [
  {
    ...unavailable,
    name: 'a proxy in front is down',
    party: 'network',
    async provoke({ doorway }) {
      doorway.close();
      return () => doorway.reopen();
    },
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'a proxy has no server',
    party: 'network',
    async provoke({ doorway }) {
      doorway.vanish();
      return () => doorway.heal();
    },
    line: /50001 .*did not answer within 10000 ms/,
  },
  {
    ...unavailable,
    name: 'a proxy resets each connection',
    party: 'network',
    async provoke({ doorway }) {
      const onRequest = doorway.onRequest;
      doorway.onRequest = (_request, client) => void client.resetAndDestroy();
      return () => {
        doorway.onRequest = onRequest;
      };
    },
    line: /50[03]01 .*(no connection|the connection failed)/,
  },
  {
    ...unavailable,
    name: 'one instance of two has lost the database',
    party: 'network',
    other: 'well',
    async provoke({ doorway }) {
      doorway.vanish();
      return () => doorway.heal();
    },
    line: /50001 .*did not answer within 10000 ms/,
  },
  {
    name: 'a proxy cuts each response',
    party: 'network',
    page: 'PlantStoreConnectionsLost',
    async provoke({ doorway }) {
      const onAnswer = doorway.onAnswer;
      // Those of an INSERT, and of nothing that comes before.
      doorway.onAnswer = (answer, client) =>
        answer.includes('INSERT 0') ? void client.destroy() : onAnswer(answer, client);
      return () => {
        doorway.onAnswer = onAnswer;
      };
    },
    line: /50001 .*the connection failed before the database said what it stored/,
  },
  {
    ...unavailable,
    name: 'its name is not found',
    party: 'network',
    provoke: toLogins('lose the name'),
    line: /50301 .*(ENOTFOUND|EAI_AGAIN)/,
  },
  {
    ...unavailable,
    name: 'the server speaks no TLS',
    party: 'network',
    provoke: toLogins('ask for TLS'),
    line: /50301 .*no connection: check host, port and TLS/,
  },
  {
    ...unavailable,
    name: 'the network comes and goes',
    party: 'network',
    async provoke({ doorway }) {
      doorway.vanish();
      const timers = [15, 35, 55].map((s) => setTimeout(() => doorway.heal(), s * 1_000));
      timers.push(...[20, 40].map((s) => setTimeout(() => doorway.vanish(), s * 1_000)));
      return () => {
        for (const timer of timers) clearTimeout(timer);
        doorway.heal();
      };
    },
    line: /50001 .*did not answer/,
  },
];

const ofTokens: readonly Incident[] = [
  {
    ...unverified,
    name: 'the issuer is down',
    provoke: toApp('verify, refused'),
    line: /50002 .*verifyToken threw TypeError/,
  },
  {
    ...unverified,
    name: 'the issuer hangs',
    gauge: 'plant_store_verifying_seconds > 1',
    provoke: toApp('verify, hangs'),
  },
  {
    ...unverified,
    name: 'the issuer takes 3 s',
    gauge: 'plant_store_verifying_seconds > 1',
    provoke: toApp('verify, slow'),
  },
  {
    ...unverified,
    name: 'its keys cannot be had',
    provoke: toApp('fail to verify'),
    line: /50002 .*verifyToken threw Error\./,
  },
];

const ofApp: readonly Incident[] = [
  {
    name: 'the app holds all connections',
    party: 'app',
    page: 'PlantStorePoolExhausted',
    gauge: 'plant_store_pool_waiting > 0 unless plant_store_pool_idle > 0',
    provoke: toApp('hold the pool'),
    line: /50301 .*the pool gave no connection: 0 of 10 idle/,
  },
  {
    name: 'the app leaks a transaction',
    party: 'app',
    // On a busy machine a login takes so long that no create finds a connection without one.
    page: [undefined, 'PlantStoreUnavailable'],
    provoke: toApp('leak a transaction'),
    line: /50301 .*already has an open transaction/,
  },
  {
    ...unavailable,
    name: 'the app has ended its pool',
    party: 'app',
    provoke: async (garden) => void (await garden.tell('harm/end the pool')),
    line: /50301 .*the app has closed the database connection/,
  },
  {
    name: 'the event loop of the app is blocked',
    party: 'app',
    page: 'PlantStoreAppBlocked',
    gauge: 'nodejs_eventloop_lag_p99_seconds > 0.5',
    provoke: toApp('block the loop'),
  },
  {
    name: 'the app runs out of memory',
    party: 'platform',
    page: 'PlantStoreInstanceDown',
    gauge: 'up == 0',
    env: { NODE_OPTIONS: '--max-old-space-size=64' },
    provoke: async (garden) => void (await garden.tell('harm/use up the memory')),
  },
  {
    name: 'its process is killed',
    party: 'platform',
    page: 'PlantStoreInstanceDown',
    gauge: 'up == 0',
    provoke: async ({ program }) => void program.child.kill('SIGKILL'),
  },
  {
    name: 'its machine is frozen',
    party: 'platform',
    page: 'PlantStoreInstanceDown',
    gauge: 'up == 0',
    async provoke({ program }) {
      program.child.kill('SIGSTOP');
      return () => program.child.kill('SIGCONT');
    },
  },
  {
    name: 'a body parser has consumed the body',
    party: 'developers',
    page: 'PlantStoreFault',
    path: '/parsed/plants',
    provoke: async ({ load }) => load.start(2, 200),
    line: /50003 /,
  },
  {
    name: 'a guarded route of the app throws',
    party: 'developers',
    page: 'PlantStoreFault',
    provoke: toApp('answer wrongly'),
    line: /50000 /,
  },
  {
    name: 'the request has less time than the storage',
    party: 'developers',
    page: 'PlantStoreFailing',
    // Longer than a busy machine stands still, and less than the storage has.
    env: { REQUEST_MS: '2500' },
    provoke: trigger('PERFORM pg_sleep(2.6)', 'STATEMENT'),
    line: /50302 .*timed out after 2500 ms/,
  },
];

export const incidents: readonly Incident[] = [
  { name: 'none', party: 'app', provoke: async () => undefined },
  ...incidentsOfDatabase,
  ...ofTable,
  ...ofNetwork,
  ...ofTokens,
  ...ofApp,
];
