import { type FoundRow, type MysqlConnection, queryRows } from './connection.js';

/** A table, and its columns that hold the key. */
export interface Place {
  /** Its database; `undefined`: that of the connection. */
  readonly container: string | undefined;
  readonly table: string;
  readonly key: readonly string[];
}

/** A table as the catalogue shows it: the one behind a view, if it was one. */
export interface FoundTable extends Place {
  readonly facts: FoundRow;
  readonly isView: boolean;
}

/** What the catalogue shows of the unique keys of a table. */
export interface FoundKeys {
  /** Whether one has exactly the columns of the key, so that the server stores each key once. */
  readonly hasKey: boolean;
  /** The names of all others. */
  readonly others: readonly string[];
}

/** What `SHOW INDEX` shows of a column of an index. */
interface IndexColumn {
  readonly Key_name: string;
  /** Null of an expression. */
  readonly Column_name: string | null;
  /** How much of the column it has; null: all. */
  readonly Sub_part: unknown;
  readonly Index_type: string;
}

const tableFacts = (
  place: Place,
) => `SELECT TABLE_TYPE AS kind, ENGINE AS engine, TRANSACTIONS AS transactions,
CREATE_OPTIONS AS options FROM information_schema.TABLES LEFT JOIN information_schema.ENGINES USING (ENGINE)
WHERE ${matchTable('TABLE_SCHEMA', 'TABLE_NAME', place)}`;

/** Its definition is empty for a role without the privilege SHOW VIEW. */
const viewFacts = (place: Place) =>
  `SELECT VIEW_DEFINITION AS definition FROM information_schema.VIEWS WHERE ${matchTable('TABLE_SCHEMA', 'TABLE_NAME', place)}`;

/** The end of a row's time in a table WITH SYSTEM VERSIONING, which is the same in all rows that are not history. */
const rowEnd = (place: Place) => `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
WHERE ${matchTable('TABLE_SCHEMA', 'TABLE_NAME', place)} AND GENERATION_EXPRESSION = 'ROW END'`;

/** Compares the names of a table. They are parameters: the server then reads this table and no other. */
export const matchTable = (schema: string, table: string, { container }: Pick<Place, 'container'>) =>
  `${schema} = ${container === undefined ? 'DATABASE()' : '?'} AND ${table} = ?`;

export const namesOf = ({ container, table }: Pick<Place, 'container' | 'table'>) =>
  container === undefined ? [table] : [container, table];

/** No app has a view of so many views. */
const mostViews = 8;

/**
 * Finds a table and its engine. A view that is no more than columns of one table is followed to that: its keys are the view's.
 * `undefined` if there is none that this role may see.
 */
export async function findTable(connection: MysqlConnection, place: Place): Promise<FoundTable | undefined> {
  let next: Place | undefined = place;
  for (let views = 0; next && views < mostViews; views++) {
    const [facts]: FoundRow[] = await queryRows(connection, tableFacts(next), namesOf(next));
    if (!facts) return undefined;
    if (facts.kind !== 'VIEW') return { ...next, facts, isView: views > 0 };
    const [view]: FoundRow[] = await queryRows(connection, viewFacts(next), namesOf(next));
    next = placeBehind(view?.definition ?? '', next.key);
  }
  return undefined;
}

const name = '`((?:[^`]|``)+)`';
const column = `(?:${name}\\.){1,2}${name} AS ${name}`;
const simpleView = new RegExp(`^select (${column}(?:,${column})*) from ${name}\\.${name}(?: ${name})?$`);

/** Returns the table of a view that shows columns of it, and of all of its rows, and nothing else. */
function placeBehind(definition: string, key: readonly string[]): Place | undefined {
  const found = simpleView.exec(definition);
  if (!found) return undefined;
  const columns = [...found[1]!.matchAll(new RegExp(column, 'g'))].map(([, , inTable, inView]) => [
    unquoted(inView!).toLowerCase(),
    unquoted(inTable!),
  ]);
  const names = new Map(columns as [string, string][]);
  const keyBehind = key.map((each) => names.get(each.toLowerCase()));
  const [container, table] = found.slice(-3).map((each) => unquoted(each ?? ''));
  return keyBehind.includes(undefined) ? undefined : { container, table: table!, key: keyBehind as string[] };
}

const unquoted = (text: string) => text.replaceAll('``', '`');

/** Finds the unique keys of a table. One that is ignored or invisible is kept unique all the same. */
export async function findKeys(connection: MysqlConnection, found: FoundTable): Promise<FoundKeys> {
  const { container, table, key, facts } = found;
  const quoted = [container, table].filter((each) => each !== undefined).map(quoteName);
  const parts = await queryRows(connection, `SHOW INDEX FROM ${quoted.join('.')} WHERE NOT Non_unique`);
  const isVersioned = facts.kind === 'SYSTEM VERSIONED';
  const ends = isVersioned ? await queryRows(connection, rowEnd(found), namesOf(found)) : [];
  const constant = ends.map((end) => end.name!.toLowerCase());
  const names = [...new Set(parts.map((part) => part.Key_name!))];
  const isKey = (index: string) => {
    const own = (parts as unknown as IndexColumn[]).filter((part) => part.Key_name === index);
    const columns = own
      .map((part) => part.Column_name?.toLowerCase())
      .filter((each) => !constant.includes(each!));
    const isSame = columns.length === key.length && key.every((each) => columns.includes(each.toLowerCase()));
    // A part is of the beginnings alone. A hash, as of a TEXT, is compared before the INSERT: in READ COMMITTED two may win (MDEV-37199).
    return isSame && own.every((part) => part.Sub_part === null && part.Index_type === 'BTREE');
  };
  const others = names.filter((index) => !isKey(index));
  return { hasKey: others.length < names.length, others };
}

const quoteName = (text: string) => `\`${text.replaceAll('`', '``')}\``;
