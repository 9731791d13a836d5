// What each code of a server means for a plant, by when it came, and for its connection. The servers are played: no real one has them all.
import { mysqlStorage } from 'plant-store/mysql';
import { type PostgresPool, postgresStorage } from 'plant-store/postgres';
import { describe, expect, it } from 'vitest';
import { context } from './context.js';
import { connectionOf, inserted } from './mysql-connection.js';

/** What becomes of a plant whose create meets an error of a meaning, by the statement that meets it. */
const outcomes = {
  //                         a login    an INSERT   in a transaction  its COMMIT
  'of the plant': /*    */ ['busy', 'rejected', 'rejected', 'rejected'],
  'to be retried': /*   */ ['created', 'created', 'created', 'created'],
  'of the setup': /*    */ ['busy', 'rejected', 'rejected', 'rejected'],
  'of the login': /*    */ ['busy', 'created', 'created', 'created'],
  'of a transaction': /**/ ['busy', 'created', 'created', 'created'],
  unknown: /*           */ ['created', 'unknown', 'rejected', 'unknown'],
} as const;
const phases = ['a login', 'an INSERT', 'an INSERT in a transaction', 'a COMMIT'] as const;

type Meaning = keyof typeof outcomes;
type Phase = (typeof phases)[number];

/** After these the connection is used again; after all others it is closed. */
const kept = true;
const closed = false;

type Row = readonly [what: string, codes: string, meaning: Meaning, keepsConnection: boolean];

const ofPostgres: readonly Row[] = [
  ['data, constraints, views', '21000 22001 23505 23514 23P01 44000', 'of the plant', kept],
  ['what a trigger raises', 'P0001 09000 27000 2F000 38000 39000', 'of the plant', kept],
  ['a feature, a limit', '0A000 54000', 'of the plant', kept],
  ['a serialization failure, a deadlock', '40001 40P01', 'to be retried', kept],
  ['a lock', '55P03', 'to be retried', kept],
  ['no table, no column, no index, no grant', '42P01 42703 42P10 42501 42601', 'of the setup', kept],
  ['a server that became read-only', '25006', 'to be retried', closed],
  ['a server that is full', '53100 53200 53300', 'to be retried', closed],
  ['a server that starts, or had ended the connection', '57P03 57P05 25P03', 'to be retried', closed],
  ['cancelled', '57014', 'to be retried', closed],
  ['no such user or database', '28P01 28000 3D000', 'of the login', closed],
  ['a transaction of the app that has failed', '25P02', 'of a transaction', closed],
  ['a server that ends', '57P01 57P02', 'unknown', closed],
  ['a broken connection, an internal error', '08006 08P01 58030 XX000', 'unknown', closed],
  ['completion unknown', '40003 25P04', 'unknown', closed],
  ['a code of nobody', 'GA001 F0000 HV000', 'unknown', closed],
];

/** Numbers, each with its SQLSTATE. */
const ofMysql: readonly Row[] = [
  ['data, constraints', '1048/23000 1406/22001 1366/HY000 4025/23000', 'of the plant', kept],
  ['a CHECK of MySQL, a partition', '3819/HY000 1526/HY000', 'of the plant', kept],
  ['SIGNAL', '1644/45000 1644/08S01 1213/45000 1290/45000 9999/45001', 'of the plant', kept],
  ['a packet that is too large', '1153/08S01', 'of the plant', closed],
  [
    'a deadlock, another snapshot, TiDB',
    '1213/40001 1020/HY000 8022/HY000 9007/HY000',
    'to be retried',
    kept,
  ],
  ['a statement that took too long', '1969/70100 3024/HY000', 'to be retried', kept],
  ['a lock', '1205/HY000', 'to be retried', kept],
  ['no table, no column, no grant', '1146/42S02 1054/42S22 1142/42000 1364/HY000', 'of the setup', kept],
  ['a server that became read-only', '1290/HY000 1792/25006 1836/HY000', 'to be retried', closed],
  ['a node without its cluster', '1047/08S01', 'to be retried', closed],
  ['a server that is full', '1040/08004 1114/HY000 1461/42000', 'to be retried', closed],
  ['the server had ended the idle connection', '4031/HY000', 'to be retried', closed],
  ['tables that the app has locked, XA', '1100/HY000 1399/XAE07', 'to be retried', closed],
  ['no such user', '1045/28000 1698/28000 1130/HY000', 'of the login', closed],
  ['a commit that failed', '1180/HY000', 'unknown', closed],
  ['interrupted, killed, shut down', '1317/70100 1927/70100 1053/08S01', 'unknown', closed],
  ['TiDB, Vitess and proxies, of anything', '1105/HY000', 'unknown', closed],
  ['a number of a proxy, whatever its state', '999/23000 8000/HY000 9001/HY000', 'unknown', closed],
];

/** Fails once, at its phase, and logs how each connection ended. */
class Server {
  readonly ends: boolean[] = [];
  #failures = 1;

  constructor(
    readonly error: Error,
    readonly phase: Phase,
  ) {}

  get hasTriggers(): boolean {
    return this.phase === 'an INSERT in a transaction' || this.phase === 'a COMMIT';
  }

  login(): void {
    if (this.phase === 'a login') this.#fail();
  }

  /** @throws the error, if this is the statement that meets it */
  run(sql: string): void {
    // Not the INSERT of nothing, which is asked whether each create fails.
    const isInsert = /INTO [`"]plants[`"]/.test(sql) && !sql.includes('WHERE FALSE');
    if (isInsert && this.phase.startsWith('an INSERT')) this.#fail();
    if (sql.startsWith('COMMIT') && this.phase === 'a COMMIT') this.#fail();
  }

  #fail(): void {
    if (this.#failures-- > 0) throw this.error;
  }
}

function postgresOf(server: Server) {
  const table = ['id', 'name', 'tag'].map((name) => {
    const base = name === 'id' ? 'bigint' : 'text';
    const cast = `pg_catalog.${name === 'id' ? 'int8' : 'text'}`;
    return { name, type: base, base, cast, hasTriggers: String(server.hasTriggers), checksAtCommit: 'false' };
  });
  const client = {
    async query(text: string, values: unknown[] = []) {
      if (text.startsWith('WITH RECURSIVE found')) return { rows: table };
      const isOfNothing = String(values[0]) === '{}';
      if (!isOfNothing) server.run(text);
      if (text.startsWith('SELECT (new.place')) return { rows: [{ n: '0', key: '1' }] };
      return { rows: text.includes('RETURNING') && !isOfNothing ? [{ key: '1' }] : [] };
    },
    release: (isDiscarded: boolean) => void server.ends.push(!isDiscarded),
  };
  const pool = {
    query: client.query,
    totalCount: 1,
    async connect(settle: (error: unknown, client?: object) => void) {
      // Later, as a pool calls back.
      await undefined;
      try {
        server.login();
        settle(undefined, { ...client, query: queryOf(client.query) });
      } catch (error) {
        settle(error);
      }
    },
  };
  return postgresStorage(pool as unknown as PostgresPool);
}

/** Clients of `pg` take a statement with a name, too; and count what they insert. */
const queryOf =
  (query: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>) =>
  async (given: string | { text: string; values: unknown[] }, values?: unknown[]) => {
    const [text, all] = typeof given === 'string' ? [given, values] : [given.text, given.values];
    return { ...(await query(text, all)), rowCount: 1 };
  };

function mysqlOf(server: Server) {
  const columns = Object.entries({ id: 'bigint', name: 'longtext', tag: 'longtext' });
  const shown: readonly (readonly [RegExp, readonly object[]])[] = [
    [/^SHOW FULL COLUMNS/, columns.map(([Field, Type]) => ({ Field, Type, Collation: null }))],
    [/^SHOW INDEX/, [{ Key_name: 'PRIMARY', Column_name: 'id', Sub_part: null, Index_type: 'BTREE' }]],
    [/@@character_set_client/, [{ characters: 'utf8mb4', modes: '', isolation: 'REPEATABLE-READ' }]],
    [/information_schema\.TRIGGERS/, server.hasTriggers ? [{ name: 'peer' }] : []],
    [/information_schema\.TABLES/, [{ kind: 'BASE TABLE', engine: 'InnoDB', options: '' }]],
  ];
  const connection = connectionOf((sql) => {
    server.run(sql);
    const found = shown.find(([pattern]) => pattern.test(sql))?.[1];
    // A plant is stored if a transaction asks for it; after a duplicate key, it is not.
    return found ?? (sql.startsWith('SELECT 0 AS n') ? (server.hasTriggers ? [{ n: 0 }] : []) : inserted);
  });
  connection.release = () => server.ends.push(kept);
  connection.destroy = () => server.ends.push(closed);
  return mysqlStorage({
    async getConnection() {
      server.login();
      return connection;
    },
  });
}

const databases = [
  {
    name: 'PostgreSQL',
    rows: ofPostgres,
    open: postgresOf,
    errorOf: (code: string) => ({ code, severity: 'ERROR' }),
  },
  {
    name: 'MySQL and MariaDB',
    rows: ofMysql,
    open: mysqlOf,
    errorOf: (code: string) => ({ errno: Number(code.split('/')[0]), sqlState: code.split('/')[1]! }),
  },
];

/** What a create is told. */
async function told({ create }: ReturnType<typeof postgresOf>, error: Error): Promise<string> {
  try {
    return await create({ id: 1n, name: 'Rosa' }, context);
  } catch (failure) {
    const { name, reason, cause } = failure as { name: string; reason?: string; cause?: unknown };
    if (failure === error) return 'unknown';
    if (name === 'StorageBusy') return 'busy';
    return reason === 'rejected' && cause === error ? 'rejected' : String(failure);
  }
}

describe.each(databases)('$name', ({ rows, open, errorOf }) => {
  const all = rows.flatMap(([what, codes, meaning, keeps]) =>
    codes.split(' ').map((code) => [what, code, meaning, keeps ? 'kept' : 'closed', keeps] as const),
  );
  it.each(all)('%s (%s) is %s, and its connection is %s', async (_, code, meaning, __, keeps) => {
    for (const [i, phase] of phases.entries()) {
      const error = Object.assign(new Error('from the server'), errorOf(code));
      const server = new Server(error, phase);
      expect({ phase, outcome: await told(open(server), error) }).toEqual({
        phase,
        outcome: outcomes[meaning][i],
      });
      // A login that failed has no connection.
      if (phase !== 'a login') expect({ phase, isKept: server.ends[0] }).toEqual({ phase, isKept: keeps });
    }
  });
});

it.each<[string, string, boolean]>([
  ['08006 28000 3D000 58030 XX000 GA001 HV000 26000 25P02 25P04 42P01 42501 55000', 'rejected', kept],
  ['40001 40P01 53100 55P03 57014 57P01 25006', 'created', kept],
])(
  'whatever a function of PostgreSQL raises (%s), its plant is %s, and its connection is kept',
  async (codes, outcome) => {
    for (const code of codes.split(' ')) {
      const error = Object.assign(new Error('raised'), { code, severity: 'ERROR', where: 'at RAISE' });
      const server = new Server(error, 'an INSERT in a transaction');
      expect({ code, told: await told(postgresOf(server), error), ends: server.ends[0] }).toEqual({
        code,
        told: outcome,
        ends: kept,
      });
    }
  },
);
