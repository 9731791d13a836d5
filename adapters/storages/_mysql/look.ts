import { type LearnedTable, learn } from '../_shared/columns.js';
import { missingIndex, passTable, Rejection, unusable } from '../_shared/rejection.js';
import type { TableSpec } from '../_shared/table.js';
import { type FoundRow, type MysqlConnection, queryRows } from './connection.js';
import { explain } from './errors.js';
import { type FoundTable, findKeys, findTable, matchTable, namesOf } from './key.js';

/**
 * What the session does to texts, and its isolation, which MySQL and MariaDB call by another name each.
 */
const session = `SELECT @@character_set_client AS characters, @@sql_mode AS modes,
CONCAT_WS('', NULL /*!50720 , @@transaction_isolation */ /*M! , @@tx_isolation */) AS isolation`;

/** Triggers of an INSERT. A role without the privilege TRIGGER sees none. */
const triggersOfInsert = (spec: TableSpec) => `SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS
WHERE ${matchTable('EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE', spec)} AND EVENT_MANIPULATION = 'INSERT'`;

/**
 * Learns the columns of a table; `undefined` if there is none.
 *
 * @throws {Rejection} if plants would change or get lost, or one id could be created twice
 */
export async function look(connection: MysqlConnection, spec: TableSpec): Promise<LearnedTable | undefined> {
  // If there is no table, or no right to use it, this fails as an INSERT does.
  const columns = await queryRows(connection, `SHOW FULL COLUMNS FROM ${spec.name}`);
  if (columns.length === 0) return undefined;
  try {
    return await learnFrom(connection, spec, columns);
  } catch (error) {
    // An INSERT does not say which index it relies on: so a table that cannot be looked at is not used unseen.
    const isTold = error instanceof Rejection || !['rejected', 'setup'].includes(explain(error).meaning);
    throw isTold ? error : unusable(spec, 'the server does not show whether its ids are unique', error);
  }
}

async function learnFrom(
  connection: MysqlConnection,
  spec: TableSpec,
  columns: readonly FoundRow[],
): Promise<LearnedTable> {
  const [settings = {}] = await queryRows(connection, session);
  const fault = faultOfSession(settings) ?? faultOfColumns(spec, columns);
  if (fault) throw unusable(spec, fault);
  const triggers = await queryRows(connection, triggersOfInsert(spec), namesOf(spec));
  const key = spec.columns.slice(0, spec.key.length).map(({ name }) => name);
  const table = await findTable(connection, { container: spec.container, table: spec.table, key });
  const found = columns.map(({ Field, Type, Extra }) => ({
    name: Field!,
    type: Type!,
    isGenerated: /VIRTUAL|STORED|PERSISTENT/.test(Extra!),
  }));
  const learned = learn(spec, found, triggers.length > 0, table?.isView ?? true);
  if (!table) throw unusable(spec, unseenKey);
  const faultOfTable = faultOfEngine(table, spec);
  if (faultOfTable) throw unusable(spec, faultOfTable);
  const { hasKey, others } = await findKeys(connection, table);
  if (!hasKey) throw unusable(spec, table.isView ? unseenKey : missingKey(spec, table, learned));
  // The table behind a view may have triggers that are not seen by this name.
  return { ...learned, hasTriggers: learned.hasTriggers || table.isView, uniqueKeys: others };
}

/** What is wrong with a view whose table's keys are not to be seen. */
const unseenKey = `it is a view, and no unique index of exactly its ids is to be seen behind it. ${passTable}`;

function faultOfColumns(spec: TableSpec, columns: readonly FoundRow[]): string | undefined {
  const changing = columns.find(({ Field, Collation }) => isOf(spec, Field!) && changesTexts(Collation));
  return (
    changing &&
    `its column ${changing.Field} is in ${changing.Collation}, which changes some characters. Convert it to utf8mb4`
  );
}

function isOf(spec: TableSpec, column: string): boolean {
  return spec.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase());
}

/** Whether texts of this collation change without an error. The others here hold what they are given, or reject it. */
function changesTexts(collation: string | null | undefined): boolean {
  return typeof collation === 'string' && !/^(utf8|ascii|latin1|binary)/.test(collation);
}

/** Settings of a session with which plants change or get lost. */
function faultOfSession({ characters, modes, isolation }: FoundRow): string | undefined {
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

/** Those that keep a key unique in all rows of a table, and roll back. FEDERATED and SPIDER have transactions, and leave keys to others. */
const engines = /^(innodb|rocksdb|ndbcluster)$/i;

function faultOfEngine({ facts, isView }: FoundTable, { name }: TableSpec): string | undefined {
  const { engine, transactions } = facts;
  if (engines.test(engine ?? '')) return undefined;
  if (transactions !== 'NO') return `its engine ${engine} may not keep ids unique. Use a table of InnoDB`;
  const remedy = isView ? 'Use InnoDB for the table behind it' : `Run: ALTER TABLE ${name} ENGINE = InnoDB`;
  return `its engine ${engine} has no transactions: a failed INSERT leaves rows behind. ${remedy}`;
}

/** What is wrong with a table without a unique key of exactly the ids, and what to do. */
function missingKey(spec: TableSpec, { facts }: FoundTable, { columns }: LearnedTable): string {
  const id = columns[spec.key.length - 1]!;
  if (/text/i.test(id.type))
    return `its column ${id.name} is ${id.type}, in which no index keeps each id apart: use BIGINT`;
  const key = spec.key.join(', ');
  return facts.options?.includes('partitioned')
    ? `it needs a unique index of exactly (${key}), which its partitions may forbid: partition it by these columns, and make them its key`
    : missingIndex(spec);
}
