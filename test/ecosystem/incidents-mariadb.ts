/** Incidents of a MariaDB, as in incidents.ts. */
import type { Pool } from 'mysql2/promise';
import type { Doorway } from '../support/doorway.js';
import {
  cannotUse,
  type Incident,
  inSlowStatements,
  type Plot,
  toApp,
  unavailable,
  unusable,
} from './incidents.js';

/** With a database of MariaDB. */
export interface MariaGarden extends Plot {
  readonly doorway: Doorway;
  /** Of its database, as an administrator. */
  readonly mysql: Pool;
}

const run = async ({ mysql, name }: MariaGarden, ...statements: string[]) => {
  for (const statement of statements) await mysql.query(statement.replaceAll('PLANTS', `${name}.plants`));
};

/** Runs SQL as an administrator, and other SQL as the remedy. */
const sql = (text: string, remedy: string) => async (garden: MariaGarden) => {
  await run(garden, text);
  return () => run(garden, remedy);
};

async function endSessions({ mysql, name }: MariaGarden): Promise<void> {
  const [rows] = await mysql.query(`SELECT id FROM information_schema.processlist WHERE user = '${name}'`);
  for (const { id } of rows as { id: number }[]) await mysql.query(`KILL ${id}`).catch(() => {});
}

/** Changes the user of the app, for the sessions that begin. */
const altered = (change: string, remedy: string) => async (garden: MariaGarden) => {
  const alter = async (text: string) => {
    await run(garden, `ALTER USER ${garden.name}@'%' ${text}`);
    await endSessions(garden);
  };
  await alter(change);
  return () => alter(remedy);
};

const trigger = (body: string) => async (garden: MariaGarden) => {
  const { name } = garden;
  await run(garden, `CREATE TRIGGER ${name}.harm BEFORE INSERT ON PLANTS FOR EACH ROW ${body}`);
  return () => run(garden, `DROP TRIGGER ${name}.harm`);
};

/** Runs this on a connection that is kept until the remedy. */
const holding = (statement: string, remedy: string) => async (garden: MariaGarden) => {
  const holder = await garden.mysql.getConnection();
  await holder.query('BEGIN');
  await holder.query(statement.replaceAll('PLANTS', `${garden.name}.plants`));
  return async () => {
    await holder.query(remedy);
    holder.release();
  };
};

export const incidentsOfMariaDb: readonly Incident<MariaGarden>[] = [
  {
    ...unavailable,
    name: 'MariaDB: the database is stopped',
    async provoke({ doorway }) {
      doorway.close();
      return () => doorway.reopen();
    },
    line: /50[03]01 /,
  },
  {
    ...unavailable,
    name: 'MariaDB: the database is frozen',
    async provoke({ doorway }) {
      doorway.vanish();
      return () => doorway.heal();
    },
    line: /50001 .*did not answer within 10000 ms/,
  },
  {
    ...unavailable,
    name: 'MariaDB: the user may no longer log in',
    provoke: altered('ACCOUNT LOCK', 'ACCOUNT UNLOCK'),
    line: /50301 .*the server refuses the login/,
  },
  {
    ...unavailable,
    name: 'MariaDB: the whole table is locked',
    provoke: holding('LOCK TABLES PLANTS READ', 'UNLOCK TABLES'),
    line: /50301 .*another transaction has locked the table, or each row that was tried/,
  },
  {
    ...unavailable,
    name: 'MariaDB: each statement outlasts max_statement_time',
    page: ['PlantStoreUnavailable', 'PlantStoreCallsSlow'],
    async provoke(garden) {
      const remedy = await trigger('SET @slept = SLEEP(6)')(garden);
      const again = await altered('WITH MAX_STATEMENT_TIME 4', 'WITH MAX_STATEMENT_TIME 0')(garden);
      return async () => {
        await remedy();
        await again();
      };
    },
    line: /50301 /,
  },
  {
    name: 'MariaDB: it kills sessions',
    party: 'database',
    page: ['PlantStoreConnectionsLost', 'PlantStoreUnavailable'],
    provoke: inSlowStatements(trigger('SET @slept = SLEEP(0.5)'), endSessions),
    line: /50[03]01 /,
  },
  {
    ...unusable,
    name: 'MariaDB: the table is gone',
    provoke: async (garden) => {
      const { name } = garden;
      return sql(`RENAME TABLE PLANTS TO ${name}.old`, `RENAME TABLE ${name}.old TO PLANTS`)(garden);
    },
    line: cannotUse,
  },
  {
    ...unusable,
    name: 'MariaDB: a trigger rejects all plants',
    provoke: trigger("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nothing grows'"),
    line: /50004 .* 1644 ER_SIGNAL_EXCEPTION\. A trigger/,
  },
  {
    name: 'MariaDB: a row is locked',
    party: 'developers',
    ticket: 'PlantStoreRolledBack',
    async provoke(garden) {
      const remedy = await holding("INSERT INTO PLANTS (id, name) VALUES (-1, 'held')", 'ROLLBACK')(garden);
      garden.load.startOne(-1);
      return remedy;
    },
    line: /50301 .*another transaction has locked the row/,
  },
  {
    ...unavailable,
    name: 'MariaDB: the app holds all connections',
    party: 'app',
    provoke: toApp('hold the pool'),
    line: /50301 .*the pool gave no connection/,
  },
];
