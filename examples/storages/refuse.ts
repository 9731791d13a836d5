// The option `refuse` by driver, for a table whose names are unique: a 400 with your text instead of a 500.
const sentence = 'A plant with this name exists. Choose another name.';

/** `pg`, PGlite: the constraint has a name. */
export const refuseOfPostgres = (error: unknown) =>
  (error as { constraint?: string }).constraint === 'plants_name_key' ? sentence : undefined;

/** libsql, better-sqlite3: the message has the column, and so tells constraints of one kind apart. */
export const refuseOfSqlite = (error: unknown) =>
  (error as { code?: string }).code === 'SQLITE_CONSTRAINT_UNIQUE' ? sentence : undefined;

/** mysql2: ER_DUP_ENTRY of another key than the one of the ids. */
export const refuseOfMysql = (error: unknown) =>
  (error as { errno?: number }).errno === 1062 ? sentence : undefined;
