import { outcomesOf } from './_columns.js';
import { inFailedTransaction, meaningOf, outOfRange } from './_postgres-errors.js';
import {
  isInTransaction,
  isPool,
  type Message,
  type PgClient,
  type PostgresPool,
  poolOf,
} from './_postgres-pool.js';
import { canPrepare, PreparedStatement } from './_postgres-prepared.js';
import { type Rows, textOf, type Value } from './_rows.js';
import { OpenTransaction, type Server, type ServerColumn } from './_server.js';
import type { Dialect, Table } from './_table.js';

export const dialect: Dialect = {
  mark: '"',
  container: 'schema',
  // PostgreSQL cuts longer names, so that two of them would be one.
  maxBytes: 63,
  types: { id: 'bigint PRIMARY KEY', name: 'text NOT NULL', tag: 'text' },
  text: 'text',
};

type Statements = ReturnType<typeof statementsOf>;

export function postgresServer(pool: PostgresPool, table: Table): Server<PgClient, Statements> {
  /** The app's own `lock_timeout` if it is shorter. Asked for once: to compare in each INSERT is 4 % of it. */
  let patienceMs = 250;
  return {
    pool: poolOf(pool),
    meaningOf,
    async look(client) {
      const { rows } = await client.query(lookAt, [table.name, table.names]);
      // ON CONFLICT waits for a rival transaction to end, but not for long, because a batch waits with it.
      patienceMs = Math.min(Number(rows[0]?.patience) || 250, 250);
      return rows.map(columnOf);
    },
    sqlOf: (columns) => statementsOf(table, columns, patienceMs),
    insert: (client, sql, rows) => insert(client, sql, rows, isPool(pool)),
    async select(client, { find, columns }, key) {
      const values = key.map((value, i) => sent(value, columns[i]));
      const { rows } = await client.query(find, values).catch((error) => {
        // No row has an id that the column cannot hold.
        if (error?.code === outOfRange) return { rows: [] };
        throw error;
      });
      return rows[0];
    },
    createTable: (client) => client.query(table.schema),
  };
}

async function insert(client: PgClient, sql: Statements, rows: Rows, isOwn: boolean) {
  if (isInTransaction(client)) throw new OpenTransaction();
  const values = rows[0]!.map((_, i) => rows.map((row) => sent(row[i]!, sql.columns[i])));
  const heard: Message[] = [];
  const hear = (message: Message) => heard.push(message);
  client.on?.('notice', hear);
  if (!client.getTransactionStatus) client.connection?.on?.('readyForQuery', hear);
  const one = rows.length === 1 && canPrepare(client) && values.map(([value]) => value);
  const inserting = (one ? sql.insertOne : sql.insert).run(client, one || values).catch((error) => {
    throw error?.code === inFailedTransaction ? new OpenTransaction({ cause: error }) : error;
  });
  const { rows: created, rowCount } = await inserting.finally(() => {
    client.off?.('notice', hear);
    client.connection?.off?.('readyForQuery', hear);
  });
  if (isInTransaction(client) || heard.some(({ status }) => status === 'T')) {
    // Nobody but the app may end the transaction of a connection that the app gave: there the outcome is unknown.
    if (!isOwn) throw new Error(new OpenTransaction().message);
    await client.query('ROLLBACK');
    throw new OpenTransaction();
  }
  const unreplicated = heard.find(isUnreplicated);
  if (unreplicated) throw new Error(`not replicated: ${unreplicated.message}`);
  if ((one ? rowCount : created.length) === rows.length) return rows.map(() => 'created');
  return client.query(sql.stored, values.slice(0, sql.keyLength)).then(
    ({ rows: stored }) => outcomesOf(rows, created, stored),
    (error) => {
      // The keys are as PostgreSQL spells them: if it spells some otherwise, all outcomes are unknown.
      const keys = new Set(created.map(({ key }) => key));
      return values[0]!.map((id) => (keys.has(id) ? 'created' : error));
    },
  );
}

/**
 * If the wait for a standby is cut short, PostgreSQL still commits and only warns. Saying `created` could lose the
 * plant at the next failover.
 */
function isUnreplicated({ message, routine }: Message): boolean {
  return routine === 'SyncRepWaitForLSN' || message?.includes('synchronous replication') === true;
}

/**
 * Parameters travel as text, because drivers and the app's own serializers change values of some types, and are cast to
 * the columns' types. Arrays of the usual two types are not cast: 10 % of an INSERT.
 */
function statementsOf(table: Table, columns: readonly ServerColumn[], patienceMs: number) {
  const { name, names, key } = table;
  const casts = names.map(
    (column, i) => columns[i]?.cast ?? `pg_catalog.${column === 'id' ? 'int8' : 'text'}`,
  );
  const isUsual = casts.map((cast) => /^pg_catalog\.(int8|text)$/.test(cast));
  const arrays = casts.map((cast, i) => `$${i + 1}::${isUsual[i] ? cast : 'text'}[]`);
  const values = casts.map((cast, i) => (isUsual[i] ? `new.v${i}` : `new.v${i}::${cast}`));
  const aliases = casts.map((_, i) => `v${i}`);
  const stored = key.map((column) => `plant.${column}`);
  const text = key.length > 1 ? `ROW(${stored.join(', ')})::text` : `${stored}::text`;
  const where = (value: (i: number) => string) =>
    stored.map((column, i) => `${column} = ${value(i)}`).join(' AND ');
  // Ids come sorted, so that two instances cannot deadlock; a namespace does not. Of keys that only PostgreSQL takes for
  // one, the first create wins.
  const isSorted = key.length === 1;
  const [ordinality, place] = isSorted ? ['', ''] : [' WITH ORDINALITY', ', place'];
  const order = isSorted ? '' : `ORDER BY ${key.map((_, i) => i + 1).join(', ')}, new.place `;
  // Both settings end with the statement. The warning of `isUnreplicated` must not be filtered.
  const verbosity = "set_config('client_min_messages', 'warning', true)";
  const patience = `set_config('lock_timeout', '${patienceMs}', true)`;
  const into = `INSERT INTO ${name} AS plant (${table.columns.join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  const parameters = casts.map((cast, i) => `$${i + 1}::text::${cast}`);
  return {
    columns,
    keyLength: key.length,
    insert: new PreparedStatement(`${into}
SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')})${ordinality} AS new (${aliases.join(', ')}${place}),
(SELECT ${verbosity}, ${patience}) AS settings
${order}${ending} RETURNING ${text} AS key`),
    /** For one plant, through `pg`, which counts the rows itself: half of the time. */
    insertOne: new PreparedStatement(`${into}
SELECT ${parameters.join(', ')} WHERE ${verbosity} <> '' AND ${patience} <> '' ${ending}`),
    stored: `SELECT (new.place - 1)::text AS n, ${text} AS key
FROM unnest(${arrays.slice(0, key.length).join(', ')}) WITH ORDINALITY AS new (${aliases.slice(0, key.length).join(', ')}, place)
JOIN ${name} AS plant ON ${where((i) => values[i]!)}`,
    find: `SELECT ${table.found} FROM ${name} AS plant WHERE ${where((i) => parameters[i]!)}`,
  };
}

/** Finds the columns of a table, the types behind domains, and the session's `lock_timeout` in milliseconds. */
export const lookAt = `SELECT a.attname AS name, quote_ident(n.nspname) || '.' || quote_ident(t.typname) AS "cast",
format_type(a.atttypid, a.atttypmod) AS type, b.typname AS base, b.typtype AS kind,
CASE WHEN t.typbasetype = 0 THEN a.atttypmod ELSE t.typtypmod END AS modifier,
(SELECT setting FROM pg_settings WHERE pg_settings.name = 'lock_timeout') AS patience
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = t.typnamespace
JOIN pg_type AS b ON b.oid = CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END
WHERE a.attrelid = to_regclass($1::text) AND a.attname = ANY ($2::text[])`;

function columnOf({ name, cast, type, base, kind, modifier }: Record<string, unknown>): ServerColumn {
  const length = Number(modifier) - 4;
  const isText = /^(text|varchar|citext)$/.test(String(base));
  // A numeric with a negative scale rounds.
  const isRounded = length > 0 && (length & 0x400) !== 0;
  const isId = isText || /^(int[248]|bpchar)$/.test(String(base)) || (base === 'numeric' && !isRounded);
  return {
    name: String(name),
    cast: String(cast),
    type: String(type),
    isExact: name === 'id' ? isId : isText || kind === 'e',
    maxLength: base === 'varchar' && length > 0 ? length : undefined,
    isJson: /^jsonb?$/.test(String(base)),
  };
}

/** A value as it is sent to a column. */
function sent(value: Value, column: ServerColumn | undefined): string | null {
  return column?.isJson && value !== null && typeof value !== 'bigint'
    ? JSON.stringify(value)
    : textOf(value);
}
