// The part that this storage uses of each library on SQLite. No types of a library are in a public signature.

/** A client whose `batch` is a transaction: of `@libsql/client`, or of `@tursodatabase/serverless` or its layer for libSQL. */
export interface LibsqlClient {
  readonly protocol?: string;
  batch(statements: { sql: string; args: Values }[], mode: 'write'): Promise<{ rows: unknown[] }[]>;
  executeMultiple?(sql: string): Promise<unknown>;
  close(): unknown;
}

/** A binding of Cloudflare D1, or a session of one. */
export interface D1Binding {
  prepare(sql: string): { bind(...values: Values): Any };
  readonly protocol?: string;
  batch(statements: Any[]): Promise<{ results: unknown[] }[]>;
}

/** The `ctx.storage` of a Durable Object that keeps its data in SQLite. */
export interface DurableObjectSqlite {
  readonly sql: { exec(sql: string, ...values: Values): { toArray(): unknown[] } };
  transactionSync<T>(closure: () => T): T;
}

/** A connection of `@tursodatabase/database`. */
export interface TursoDatabase {
  transactionAsync(task: (transaction: SqliteStatements) => Promise<void>): {
    immediate(): Promise<void>;
    deferred(): Promise<void>;
  };
  readonly memory: boolean;
}

export interface SqliteStatements {
  prepare(sql: string): Any;
}

/**
 * A connection of a driver that blocks (`libsql`, `better-sqlite3`, `node:sqlite`, `bun:sqlite`), of `libsql/promise`, or of a
 * `@tursodatabase/database` without `transactionAsync`.
 */
export interface SqliteDatabase extends SqliteStatements {
  exec(sql: string): unknown;
}

/** A connection of `sqlite3`. */
export interface Sqlite3Database {
  all(sql: string, values: Values, callback: (error: Error | null, rows: Any[]) => void): unknown;
  exec(sql: string, callback: (error: Error | null) => void): unknown;
  parallelize: Any;
}

/** A connection of `sqlite`. */
export interface SqliteOfSqlite3 {
  getDatabaseInstance(): Sqlite3Database;
}

/** A database of `expo-sqlite`. */
export interface ExpoDatabase {
  withExclusiveTransactionAsync(task: (transaction: ExpoStatements) => Promise<void>): Promise<void>;
}

interface ExpoStatements {
  getAllAsync(sql: string, values: Values): Promise<unknown[]>;
}

/** A database of `@op-engineering/op-sqlite`. */
export interface OpSqliteDatabase {
  transaction(task: (transaction: OpStatements) => Promise<void>): Promise<void>;
  executeBatch: Any;
}

interface OpStatements {
  execute(sql: string, values: Values): Promise<{ rows: unknown[] }>;
  commit(): unknown;
}

/** Parameters: text, and null for no tag. */
export type Values = (string | null)[];

// biome-ignore lint/suspicious/noExplicitAny: each library has types of its own for these
export type Any = any;

/** The part that this storage uses of a handle on SQLite. */
export type SqliteHandle =
  | SqliteDatabase
  | LibsqlClient
  | D1Binding
  | DurableObjectSqlite
  | TursoDatabase
  | Sqlite3Database
  | SqliteOfSqlite3
  | ExpoDatabase
  | OpSqliteDatabase;
