import { faultOf, meaningOf } from './_postgres-errors.js';
import { hearing, isPool, type PgClient, type PostgresPool, poolOf } from './_postgres-pool.js';
import { outcomesOf, type Rows, textOf, type Value } from './_rows.js';
import { isKept, type Server } from './_server.js';
import { type Column, cutsSpaces, type Dialect, type Table } from './_table.js';

// Not "name", which cuts, and not arrays, which are another value. A numeric with a negative scale rounds.
const text = 'text|character varying|enum|([^.]+\\.)?citext';
const id = `${text}|character|bpchar|smallint|integer|bigint|numeric`;
const exactly = (types: string) => new RegExp(`^(${types})(\\(\\d+(,\\d+)?\\))?$`);
export const dialect: Dialect = {
  engine: 'postgres',
  mark: '"',
  container: 'schema',
  // PostgreSQL cuts longer names, so that two of them would be one.
  maxBytes: 63,
  types: { id: 'bigint PRIMARY KEY', name: 'text NOT NULL', tag: 'text' },
  exact: { id: exactly(id), name: exactly(text), tag: exactly(text), namespace: exactly(`${id}|uuid`) },
  changes: cutsSpaces,
  text: 'text',
};

export function postgresServer(pool: PostgresPool, table: Table): Server<PgClient> {
  let columns: readonly Column[] = [];
  let sql = statementsOf(table, columns, 250);
  const run = preparing();

  async function insert(client: PgClient, rows: Rows) {
    const values = rows[0]!.map((_, i) => {
      const sent = /^jsonb?$/.test(columns[i]?.base ?? '') ? jsonOf : textOf;
      return rows.map((row) => sent(row[i]!));
    });
    const one = rows.length === 1 && canPrepare(client) && values.map(([value]) => value);
    const { rows: created, rowCount } = await hearing(client, isPool(pool), () =>
      one ? run(client, sql.insertOne, one) : run(client, sql.insert, values),
    );
    if ((one ? rowCount : created.length) === rows.length) return rows.map(() => 'created' as const);
    // The plants are stored, whatever this error says: to send them again would find their own ids taken. So its message
    // is not part of this one, whose meaning is unknown.
    const stored = await client.query(sql.stored, values.slice(0, table.key.length)).catch((cause) => {
      throw new Error('it is unknown which of the plants were new', { cause });
    });
    return outcomesOf(rows, created, stored.rows);
  }

  return {
    ...poolOf(pool),
    meaningOf,
    faultOf,
    async look(client) {
      const { rows } = await client.query(lookAt, [table.name, table.names]);
      if (rows[0]?.parent)
        throw table.unusable('other tables inherit from it: its index does not know their ids');
      columns = table.learn(rows);
      // ON CONFLICT waits for a rival transaction to end, but not for long, because a batch waits with it. To compare with
      // the app's own setting in each INSERT is 4 % of it.
      sql = statementsOf(table, columns, Math.min(Number(rows[0]?.patience) || 250, 250));
    },
    insert,
    async find(client, key) {
      const { rows } = await client.query(sql.find, key.map(textOf));
      return rows[0];
    },
    createTable: (client) => client.query(table.schema),
  };
}

/** Runs statements by name, as far as connections keep them prepared. */
function preparing() {
  let isNaming = true;
  return async (client: PgClient, { name, text }: ReturnType<typeof named>, values: unknown[]) => {
    const dropped: string[] = [];
    const isNamed = isNaming && canPrepare(client) && isKept(client, name, (old) => dropped.push(old));
    for (const old of dropped) await deallocate(client, old);
    if (!isNamed) return client.query(text, values);
    return client.query({ name, text, values } as unknown as string).catch((error) => {
      if (!notPrepared.includes(error?.code)) throw error;
      // Nothing has run. The next statements would fail as well, so none is named from now on.
      isNaming = false;
      return client.query(text, values);
    });
  };
}

/**
 * Parameters travel as text, because drivers and the app's own serializers change values of some types, and are cast to
 * the columns' types, those behind domains: a cast to a domain cuts what is too long for it, an assignment rejects it.
 * Arrays of the usual two types need no cast of each value: 10 % of an INSERT.
 */
function statementsOf(table: Table, columns: readonly Column[], patienceMs: number) {
  const { name, names, key } = table;
  const casts = names.map((column, i) => {
    const cast = columns[i]?.cast ?? `pg_catalog.${column === 'id' ? 'int8' : 'text'}`;
    // `find` then compares with an id that is too large, and an assignment to a smaller integer is exact.
    return cast.replace(/^pg_catalog\.int[24]$/, 'pg_catalog.int8');
  });
  const usual = /^pg_catalog\.(int8|text)$/;
  const arrays = casts.map((cast, i) => `$${i + 1}::${usual.test(cast) ? cast : 'text'}[]`);
  const values = casts.map((cast, i) => `new.v${i}::${cast}`);
  const aliases = casts.map((_, i) => `v${i}`);
  const stored = key.map((column) => `plant.${column}`);
  const text = key.length > 1 ? `ROW(${stored.join(', ')})::text` : `${stored}::text`;
  const where = (given: string[]) => stored.map((column, i) => `${column} = ${given[i]}`).join(' AND ');
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
    insert: named(`${into}
SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')})${ordinality} AS new (${aliases.join(', ')}${place}),
(SELECT ${verbosity}, ${patience}) AS settings
${order}${ending} RETURNING ${text} AS key`),
    /** For one plant, through `pg`, which counts the rows itself: half of the time. */
    insertOne: named(`${into}
SELECT ${parameters.join(', ')} WHERE ${verbosity} <> '' AND ${patience} <> '' ${ending}`),
    stored: `SELECT (new.place - 1)::text AS n, ${text} AS key
FROM unnest(${arrays.slice(0, key.length).join(', ')}) WITH ORDINALITY AS new (${aliases.slice(0, key.length).join(', ')}, place)
JOIN ${name} AS plant ON ${where(values)}`,
    find: `SELECT ${table.found} FROM ${name} AS plant WHERE ${where(parameters)}`,
  };
}

/**
 * A statement that connections of `pg` keep prepared under its name: half of the time of a lone INSERT. The name is random,
 * because a pooler may run what another process has prepared under it.
 */
function named(text: string) {
  return { name: `plant_store_${Math.random().toString(36).slice(2)}`, text };
}

/**
 * Finds the columns of a table, the types behind domains, the session's `lock_timeout` in milliseconds, and whether other
 * tables inherit from it.
 */
const lookAt = `WITH RECURSIVE found AS (
SELECT attname AS name, attrelid, format_type(atttypid, atttypmod) AS type, atttypid AS base, atttypmod AS modifier
FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attname = ANY ($2::text[]) UNION ALL
SELECT name, attrelid, type, typbasetype, typtypmod FROM found JOIN pg_type ON oid = base WHERE typtype = 'd')
SELECT name, type, quote_ident(nspname) || '.' || quote_ident(typname) AS "cast",
CASE typtype WHEN 'e' THEN 'enum' ELSE format_type(base, modifier) END AS base,
(SELECT setting FROM pg_settings WHERE pg_settings.name = 'lock_timeout') AS patience,
(SELECT max(relkind::text) FROM pg_inherits JOIN pg_class AS c ON c.oid = inhparent WHERE inhparent = attrelid AND relkind = 'r') AS parent
FROM found JOIN pg_type AS t ON t.oid = base JOIN pg_namespace AS n ON n.oid = typnamespace WHERE typtype <> 'd'`;

/** There is no such statement, or another one of its name: a pooler has changed the connection, or the app reset it. */
const notPrepared = ['26000', '42P05'];

/** Whether the driver is `pg` in JavaScript, whose clients take a statement with a name. */
function canPrepare({ connection }: PgClient): boolean {
  return connection?.parsedStatements !== undefined;
}

async function deallocate(client: PgClient, name: string): Promise<void> {
  // One that was used once has no name.
  if (!client.connection?.parsedStatements?.[name]) return;
  delete client.connection.parsedStatements[name];
  await client.query(`DEALLOCATE "${name}"`).catch(() => {});
}

/** A value as it is sent to a column of JSON. */
function jsonOf(value: Value): string | null {
  return value === null || typeof value === 'bigint' ? textOf(value) : JSON.stringify(value);
}
