import type { MysqlConnection, MysqlStatement } from 'plant-store/mysql';

export const inserted = { serverStatus: 2 };

type Values = readonly unknown[];

/** A connection whose statements return what this function makes of them, and a log of how it was given back. */
export function connectionOf(
  respond: (sql: string, values: Values, statement: string | MysqlStatement) => unknown,
  log: string[] = [],
): MysqlConnection {
  return {
    async execute(statement, values) {
      const sql = typeof statement === 'string' ? statement : statement.sql;
      return [await respond(sql, values, statement), undefined];
    },
    async query(sql) {
      return [await respond(sql, [], sql), undefined];
    },
    unprepare() {},
    release: () => log.push('release'),
    destroy: () => log.push('destroy'),
  };
}

/**
 * A pool with prepared results of its statements, in order: an error to throw, rows, a result, or a promise of these. It
 * shows nothing of its tables.
 */
export function answering(...answers: unknown[]) {
  const log: string[] = [];
  const statements: [sql: string, values: Values, statement: string | MysqlStatement][] = [];
  const connection = connectionOf(async (sql, values, statement) => {
    if (/information_schema|^SHOW/.test(sql)) return [];
    statements.push([sql, values, statement]);
    const ids = values.filter((value) => /^\d+$/.test(String(value)));
    log.push(`${/\b(INSERT|SELECT|CREATE|DO|ROLLBACK)\b/.exec(sql)?.[0]} ${ids.join()}`);
    const answer = await (answers.shift() ?? inserted);
    if (answer instanceof Error) throw answer;
    return answer;
  }, log);
  return { log, statements, connection, pool: { getConnection: async () => connection } };
}
