import type { LearnedTable } from '../_shared/columns.js';
import type { TableSpec } from '../_shared/table.js';
import type { TableServer, TableStatements } from '../_shared/table-server.js';
import { failedHandle, type Needed } from '../_shared/wrong-handle.js';
import { type MysqlConnection, type MysqlPool, queryRows, run, twice } from './connection.js';
import { explain, noDefault, remedyOf, remedyOfCreate, serverErrorIn } from './errors.js';
import { insert, insertAndRollBack, insertInTransaction } from './insert.js';
import { look } from './look.js';
import { sentTo, statementsOf } from './statements.js';

export const needed: Needed = {
  storage: 'mysqlStorage',
  what: 'a mysql2/promise pool',
  remedy: 'pass pool.promise(), or createPool of mysql2/promise',
};

export function mysqlServer(pool: MysqlPool, spec: TableSpec): TableServer<MysqlConnection> {
  return {
    connect: async () => pool.getConnection(),
    release: (connection, isReusable) => (isReusable ? connection.release() : connection.destroy()),
    explain,
    failedHandle: (error) => failedHandle(pool, error, needed),
    look: (connection) => look(connection, spec),
    statementsFor: (table) => tableStatements(spec, table),
    remedyOf: (error) => remedyOf(spec, error),
    createTable: (connection) => run(connection, spec.schema),
    remedyOfCreate: (error) => remedyOfCreate(spec, error),
  };
}

function tableStatements(spec: TableSpec, table: LearnedTable): TableStatements<MysqlConnection> {
  const sql = statementsOf(spec, table);
  return {
    insert: (connection, rows) =>
      table.hasTriggers ? insertInTransaction(connection, sql, rows) : insert(connection, sql, rows),
    async insertNothing(connection) {
      await run(connection, sql.insertNothing).catch((error) => {
        // Without a row no trigger runs that could fill the column.
        if (serverErrorIn(error)?.errno !== noDefault || !table.hasTriggers) throw error;
      });
    },
    insertAndRollBack: (connection, rows) => insertAndRollBack(connection, sql, rows),
    find: async (connection, key) =>
      (await twice(() => queryRows(connection, sql.find, key.map(sentTo), true)))[0],
  };
}
