import { type CreateOutcome, type NewPlant, StorageBusy } from '../../src/index.js';
import { duplicateKey, type MysqlError, meaningOf } from './_mysql-errors.js';
import { type MysqlConnection, type MysqlPool, type MysqlStatement, poolOf } from './_mysql-pool.js';
import { columns, foundIn, lookAt, type MysqlTable, schemaOf, tableOf } from './_mysql-table.js';
import { OpenTransaction, type Server, serverStorage } from './_server.js';
import { quote, type SqlOptions, type SqlStorage } from './_sql.js';
import { checkTrailingSpaces, membersOf, textOf } from './_table.js';

export type { MysqlConnection, MysqlPool, MysqlStatement };

/** The options of `mysqlStorage`. */
export type MysqlOptions = SqlOptions;

/** What `mysqlStorage` returns. */
export type MysqlStorage = SqlStorage;

const members = membersOf(columns);
const list = members.join(', ');

/** The table, in SQL, for a migration. `createTable` runs the same text. */
export const schema = schemaOf('`plants`');

/**
 * Stores plants in MariaDB, MySQL, TiDB or Vitess through your pool, which it neither configures nor closes. The pool's
 * connections must autocommit and use utf8mb4, which are the defaults of server and driver.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * import { createPool } from 'mysql2/promise';
 *
 * const pool = createPool({ uri: 'mysql://user:password@localhost/garden', connectTimeout: 5_000 });
 * const storage = mysqlStorage(pool);
 * await storage.createTable();
 * const handle = createPlantStore(storage, acceptTokens('secret'));
 * ```
 */
export function mysqlStorage(pool: MysqlPool, options: MysqlOptions = {}): MysqlStorage {
  // A callback pool hands its connections to a parameter.
  if (typeof pool?.getConnection !== 'function' || pool.getConnection.length > 0) {
    throw new TypeError('mysqlStorage needs a mysql2/promise pool: pass pool.promise()');
  }
  const table = quote(options.table, '`', 'database');
  const server: Server<MysqlConnection, MysqlTable> = {
    source: poolOf(pool),
    meaningOf,
    assumed: tableOf(),
    async look(connection) {
      const [name, database] = (options.table ?? 'plants').split('.').reverse();
      const rows = await execute(connection, lookAt, [database ?? null, name!, name!]).catch((error) => {
        // A database that has no such catalogue.
        if (meaningOf(error, true) === 'rejected') return [];
        throw error;
      });
      return rows.length > 0 ? tableOf(foundIn(table, rows)) : undefined;
    },
    async insert(connection, known, plants) {
      checkTrailingSpaces(table, known.columns, plants);
      return insert(connection, { name: table, id: known.id }, plants);
    },
    async select(connection, { id: cast }, id) {
      const [row] = await select(connection, { name: table, id: cast }, list, [String(id)]);
      return row && Object.fromEntries(members.map((member, i) => [member, row[i]]));
    },
    createTable: (connection) => execute(connection, schemaOf(table)),
  };
  return serverStorage(server, options);
}

/** A table, as its statements need it. */
interface Target {
  /** Quoted. */
  readonly name: string;
  readonly id: MysqlTable['id'];
}

/**
 * Settings of one statement, for MariaDB and for MySQL, each of which takes the other's for a comment. Without a strict
 * mode the server changes what does not fit; without the other mode, id 0 of an AUTO_INCREMENT column is the next number.
 * MariaDB ends a wait for a lock at once, because a batch waits with it. MySQL has no such setting for a statement.
 */
const modes = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO';
const insertInto = `/*M! SET STATEMENT sql_mode = CONCAT(@@sql_mode, ',${modes}'), innodb_lock_wait_timeout = 0 FOR */ INSERT /*+ SET_VAR(sql_mode = '${modes}') */ INTO`;

/**
 * Plain INSERTs, all or nothing. IGNORE truncates, and on Galera lets two instances win one id. ON DUPLICATE KEY does
 * not say which row was new.
 */
async function insert(
  connection: MysqlConnection,
  table: Target,
  plants: readonly NewPlant[],
): Promise<CreateOutcome[]> {
  if (plants.length === 0) return [];
  const ids = plants.map(({ id }) => String(id));
  const values = plants.flatMap((plant) => members.map((member) => textOf(plant[member])));
  const row = `(${members.map(() => '?').join(', ')})`;
  try {
    const rows = plants.map(() => row).join();
    await execute(connection, `${insertInto} ${table.name} (${list}) VALUES ${rows}`, values);
    return plants.map(() => 'created');
  } catch (error) {
    if ((error as MysqlError).errno !== duplicateKey) throw error;
    // Whether the app has a transaction open, whose rows it can still roll back: a SELECT does not show that.
    await execute(connection, 'DO 0');
    const rows = await select(connection, table, 'CAST(id AS CHAR)', ids);
    // Another unique index was violated.
    if (rows.length === 0) throw error;
    // A column with ZEROFILL has leading zeros.
    const taken = new Set(rows.map(([id]) => BigInt(id!)));
    const free = plants.filter(({ id }) => !taken.has(id));
    const outcomes = await insert(connection, table, free);
    return plants.map(({ id }) => (taken.has(id) ? 'taken' : outcomes.shift()!));
  }
}

function select(connection: MysqlConnection, { name, id }: Target, what: string, ids: string[]) {
  return execute(connection, `SELECT ${what} FROM ${name} WHERE id IN (${ids.map(() => id).join()})`, ids);
}

/** Runs a statement, prepared always: mysql2's own escaping is an injection under NO_BACKSLASH_ESCAPES. */
async function execute(
  connection: MysqlConnection,
  sql: string,
  values: (string | null)[] = [],
): Promise<(string | null)[][]> {
  // Every setting of the pool that changes rows is set again here, because what a statement says wins.
  const typeCast: MysqlStatement['typeCast'] = (_field, next) => next();
  const statement = { sql, values, rowsAsArray: true, nestTables: false, typeCast };
  const answer = await connection.execute(statement).catch((error: MysqlError) => {
    if (error.sqlState) return error;
    throw error;
  });
  // Servers limit prepared statements (max_prepared_stmt_count), and each batch size is one: drop it.
  if (values.length > members.length) connection.unprepare(statement);
  if (!Array.isArray(answer)) throw answer;
  const [result] = answer;
  if (Array.isArray(result)) return result;
  if ((result.serverStatus & inTransaction) === 0) return [];
  // What was inserted would be lost or stored with that transaction.
  await connection.execute({ ...statement, sql: 'ROLLBACK', values: [] });
  if (result.serverStatus & autocommit) throw new OpenTransaction();
  throw new StorageBusy("autocommit is off: the pool's connections must autocommit");
}

// Of the status that the server sends with a result.
const inTransaction = 1;
const autocommit = 2;
