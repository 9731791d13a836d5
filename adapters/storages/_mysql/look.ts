import { type LearnedTable, learn } from '../_shared/columns.js';
import { unusable } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import { type FoundRow, type MysqlConnection, queryRows } from './connection.js';

/**
 * Finds the engine of a table, by the names of its database and of itself, what the session does to texts, and its isolation,
 * which MySQL and MariaDB call by another name each. Each name is a parameter: the server then reads this table and no other.
 */
const tableFacts = `SELECT ENGINE AS engine, TRANSACTIONS AS transactions,
@@character_set_client AS characters, @@sql_mode AS modes,
CONCAT_WS('', NULL /*!50720 , @@transaction_isolation */ /*M! , @@tx_isolation */) AS isolation
FROM information_schema.TABLES LEFT JOIN information_schema.ENGINES USING (ENGINE)
WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`;

/** Triggers of an INSERT. A role without the privilege TRIGGER sees none. */
const triggersOfInsert = `SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = COALESCE(?, DATABASE()) AND EVENT_OBJECT_TABLE = ? AND EVENT_MANIPULATION = 'INSERT'`;

/** A table, and what its catalogue shows besides. */
interface FoundTable extends LearnedTable {
  /** Otherwise an INSERT has to show it. */
  readonly isKeyUnique: boolean;
  /** Otherwise it is a view. */
  readonly isTable: boolean;
}

/**
 * Learns the columns of a table; `undefined` if there is none.
 *
 * @throws {Rejection} if plants would change or get lost
 */
export async function look(connection: MysqlConnection, spec: TableSpec): Promise<FoundTable | undefined> {
  const [facts] = await queryRows(connection, tableFacts, namesOf(spec));
  const fault = facts && faultOfSettings(facts, spec.name);
  if (fault) throw unusable(spec, fault);
  const columns = await queryRows(connection, showColumns(spec));
  const triggers = await queryRows(connection, triggersOfInsert, namesOf(spec));
  const indexes = await queryRows(connection, `SHOW INDEX FROM ${spec.name} WHERE NOT Non_unique`);
  if (columns.length === 0) return undefined;
  const table = learn(
    spec,
    columns.map(({ Field, Type }) => ({ name: Field!, type: Type! })),
    // A view shows no engine, and no triggers of the table behind it.
    facts?.engine === null || triggers.length > 0,
  );
  const changing = columns.find(({ Field, Collation }) => isOf(spec, Field!) && changesTexts(Collation));
  if (changing)
    throw unusable(
      spec,
      `its column ${changing.Field} is in ${changing.Collation}, which changes some characters. Convert it to utf8mb4`,
    );
  return { ...table, isKeyUnique: hasIndexOf(indexes, table, spec), isTable: facts?.engine !== null };
}

const namesOf = ({ container, table }: TableSpec) => [container ?? null, table];

const showColumns = ({ name }: TableSpec) => `SHOW FULL COLUMNS FROM ${name}`;

function isOf(spec: TableSpec, column: string): boolean {
  return spec.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase());
}

/** Settings of a table and its session with which plants change or get lost. */
function faultOfSettings(facts: FoundRow, name: string): string | undefined {
  const { engine, transactions, characters, modes, isolation } = facts;
  if (transactions === 'NO') {
    return `its engine ${engine} has no transactions: a failed INSERT leaves rows behind. Run: ALTER TABLE ${name} ENGINE = InnoDB`;
  }
  if (characters !== 'utf8mb4') {
    return `the pool's connections use the character set ${characters}, which changes texts. Set charset: 'utf8mb4' in the pool's options`;
  }
  // It holds for parameters before a statement can set another mode.
  if (modes?.includes('EMPTY_STRING_IS_NULL')) {
    return `the sql_mode of the pool's connections has EMPTY_STRING_IS_NULL, which loses empty texts. Take it out`;
  }
  // After a duplicate key the ids that are stored are asked for.
  if (isolation === 'READ-UNCOMMITTED') {
    return `the pool's connections use READ UNCOMMITTED, which shows plants that may be rolled back. Use READ COMMITTED`;
  }
  return undefined;
}

/** Whether texts of this collation change without an error. The others here hold what they are given, or reject it. */
function changesTexts(collation: string | null | undefined): boolean {
  return typeof collation === 'string' && !/^(utf8|ascii|latin1|binary)/.test(collation);
}

/** Whether the catalogue shows a unique index of exactly the key, in whatever order. */
function hasIndexOf(parts: readonly FoundRow[], { columns }: LearnedTable, spec: TableSpec): boolean {
  const key = columns.slice(0, spec.key.length).map(({ name }) => name);
  return [...new Set(parts.map(({ Key_name }) => Key_name))].some((index) => {
    const own = parts.filter(({ Key_name }) => Key_name === index);
    // Not of the beginning of a column, whose length is `Sub_part`.
    const isWhole = own.every(({ Sub_part, Column_name }) => Sub_part === null && key.includes(Column_name!));
    return isWhole && own.length === key.length;
  });
}
