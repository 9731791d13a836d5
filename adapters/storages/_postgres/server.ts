import { outcomesOf, type Rows, textOf, type Value } from '../_shared/rows.js';
import { keepsPrepared, type TableServer } from '../_shared/server-table.js';
import { type Column, cutsSpaces, type Dialect, learn, type TableSpec } from '../_shared/table.js';
import { explain } from './errors.js';
import { isPool, type PgClient, type PostgresPool, poolOf, warnOfTimeouts, withNotices } from './pool.js';

// Not "name", which cuts, and not arrays, which are another value. A numeric with a negative scale rounds.
const text = 'text|character varying|enum|([^.]+\\.)?citext';
const id = `${text}|character|bpchar|smallint|integer|bigint|numeric`;
const exactly = (types: string) => new RegExp(`^(${types})(\\(\\d+(,\\d+)?\\))?$`);
export const dialect: Dialect = {
  mark: '"',
  container: 'schema',
  checkName(name) {
    // PostgreSQL cuts longer names, so that two of them would be one.
    if (new TextEncoder().encode(name).length > 63)
      throw new TypeError(`a name must have at most 63 bytes, got ${name}`);
  },
  types: { id: 'bigint', name: 'text', tag: 'text' },
  exact: { id: exactly(id), name: exactly(text), tag: exactly(text), namespace: exactly(`${id}|uuid`) },
  changes: cutsSpaces,
  text: 'text',
};

export function postgresServer(pool: PostgresPool, spec: TableSpec): TableServer<PgClient> {
  let sends: ((value: Value) => string | null)[] = [];
  let sql = statementsOf(spec, []);
  let isNaming = true;

  /** Runs an INSERT, by its name if the connection keeps it prepared. */
  function run(client: PgClient, statement: Statement, values: unknown[]) {
    const { name, text } = statement;
    if (!isNaming || !canPrepare(client) || !keepsPrepared(client, name)) return client.query(text, values);
    // `pg` copies own members by their descriptors, which took 4 µs: this object has none.
    return client.query(Object.create(statement), values).catch((error) => {
      if (!notPrepared.includes(error?.code)) throw error;
      // Nothing has run. The next statements would fail as well, so none is named from now on.
      isNaming = false;
      return client.query(text, values);
    });
  }

  async function insert(client: PgClient, rows: Rows) {
    const send = (i: number, value: Value) => (sends[i] ?? textOf)(value);
    const one = rows.length === 1 && canPrepare(client) && rows[0]!.map((value, i) => send(i, value));
    const values = one || rows[0]!.map((_, i) => rows.map((row) => send(i, row[i]!)));
    const { rows: created, rowCount } = await withNotices(client, isPool(pool), () =>
      run(client, one ? sql.insertOne : sql.insert, values),
    );
    if ((one ? rowCount : created.length) === rows.length) return rows.map(() => 'created' as const);
    // The plants are stored, whatever this error says: to send them again would find their own ids taken. So its message
    // is not part of this one, whose meaning is unknown.
    const stored = await client
      .query(sql.stored, one ? one.map((value) => [value]) : values)
      .catch((cause) => {
        throw new Error('it is unknown which of the plants were new', { cause });
      });
    return outcomesOf(rows, created, stored.rows);
  }

  return {
    ...poolOf(pool),
    explain,
    async look(client) {
      // Every table has a `ctid`: one without the other columns exists, too.
      const { rows } = await client.query(lookAt, [spec.name, ['ctid', ...spec.names]]);
      const columns = learn(spec, rows);
      sends = columns.map(({ base }) => (/^jsonb?$/.test(base!) ? jsonOf : textOf));
      sql = statementsOf(spec, columns);
      if (rows[0]) warnOfTimeouts(pool, rows[0].timeout);
    },
    insert,
    async find(client, key) {
      const { rows } = await client.query(sql.find, key.map(textOf));
      return rows[0];
    },
    createTable: (client) => client.query(spec.schema),
  };
}

/**
 * Parameters travel as text, because drivers and the app's own serializers change values of some types, and are cast to
 * the columns' types, those behind domains: a cast to a domain cuts what is too long for it, an assignment rejects it.
 * Arrays of the usual two types need no cast of each value: 10 % of an INSERT.
 */
function statementsOf(spec: TableSpec, columns: readonly Column[]) {
  const { name, names, key } = spec;
  const casts = names.map((column, i) => {
    const cast = columns[i]?.cast ?? `pg_catalog.${column === 'id' ? 'int8' : 'text'}`;
    // `find` then compares with an id that is too large, and an assignment to a smaller integer is exact.
    return cast.replace(/^pg_catalog\.int[24]$/, 'pg_catalog.int8');
  });
  const usual = /^pg_catalog\.(int8|text)$/;
  const arrays = casts.map((cast, i) => `$${i + 1}::${usual.test(cast) ? cast : 'text'}[]`);
  const values = casts.map((cast, i) => `new.v${i}::${cast}`);
  const rows = `unnest(${arrays.join(', ')})`;
  const aliases = `AS new (${casts.map((_, i) => `v${i}`).join(', ')}`;
  const stored = key.map((column) => `plant.${column}`);
  // Of several columns, that is a row.
  const text = `(${stored.join(', ')})::text`;
  const where = (given: string[]) => stored.map((column, i) => `${column} = ${given[i]}`).join(' AND ');
  // Both settings end with the statement. The warning of `isUnreplicated` must not be filtered. ON CONFLICT waits for a rival
  // transaction to end, but not for long, because a batch waits with it.
  const verbosity = "set_config('client_min_messages', 'warning', true)";
  const patience = "set_config('lock_timeout', '250', true)";
  const into = `INSERT INTO ${name} AS plant (${spec.columns.join(', ')})`;
  const ending = `ON CONFLICT (${key.join(', ')}) DO NOTHING`;
  const parameters = casts.map((cast, i) => `$${i + 1}::text::${cast}`);
  return {
    // In the order of the arrays: ids come sorted, so that two instances cannot deadlock, and of keys that only PostgreSQL
    // takes for one, the first create wins.
    insert: named(`${into}
SELECT ${values.join(', ')} FROM ${rows} ${aliases}),
(SELECT ${verbosity}, ${patience}) AS settings ${ending} RETURNING ${text} AS key`),
    /** For one plant, through `pg`, which counts the rows itself: half of the time. */
    insertOne: named(`${into}
SELECT ${parameters.join(', ')} WHERE ${verbosity} <> ${patience} ${ending}`),
    stored: `SELECT (new.place - 1)::text AS n, ${text} AS key FROM ${rows} WITH ORDINALITY ${aliases}, place)
JOIN ${name} AS plant ON ${where(values)}`,
    find: `SELECT ${spec.found} FROM ${name} AS plant WHERE ${where(parameters)}`,
  };
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * A statement that connections of `pg` keep prepared under its name: half of the time of a lone INSERT. APM agents show the
 * name. It has a hash of the text (FNV-1a, 64 bits), because a pooler may run what another process has prepared under it.
 */
function named(text: string): Statement {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return { name: `plant_store_insert_${hash.toString(36)}`, text };
}

/** Finds the columns of a table, the types behind domains, and the session's `statement_timeout`. */
const lookAt = `WITH RECURSIVE found (name, type, base, modifier) AS (
SELECT attname, format_type(atttypid, atttypmod), atttypid, atttypmod
FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attname = ANY ($2::text[]) UNION ALL
SELECT name, type, typbasetype, typtypmod FROM found JOIN pg_type ON oid = base WHERE typtype = 'd')
SELECT name, type, format('%s.%I', typnamespace::regnamespace, typname) AS "cast",
CASE typtype WHEN 'e' THEN 'enum' ELSE format_type(base, modifier) END AS base,
current_setting('statement_timeout', true) AS timeout
FROM found JOIN pg_type ON oid = base WHERE typtype <> 'd'`;

/** There is no such statement, or another one of its name: a pooler has changed the connection, or the app reset it. */
const notPrepared = ['26000', '42P05'];

/** Whether the driver is `pg` in JavaScript, whose clients take a statement with a name. */
function canPrepare({ connection }: PgClient): boolean {
  return connection?.parsedStatements !== undefined;
}

/** A value as it is sent to a column of JSON. */
function jsonOf(value: Value): string | null {
  return value === null || typeof value === 'bigint' ? textOf(value) : JSON.stringify(value);
}
