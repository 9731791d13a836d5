import { type Column, type Columns, checkColumns, definitionsOf, membersOf } from './_table.js';

export const columns: Columns = { id: 'INTEGER PRIMARY KEY', name: 'TEXT NOT NULL', tag: 'TEXT' };

export function schemaOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (${definitionsOf(columns)})`;
}

type Affinity = 'INTEGER' | 'TEXT' | 'NONE' | 'REAL' | 'NUMERIC';

/** @throws {UnusableTable} if a column would change the values that it is given */
export function foundIn(
  table: string,
  rows: readonly { readonly name: string; readonly type: string }[],
): (Column & { readonly affinity: Affinity })[] {
  const found = rows
    .filter(({ name }) => membersOf(columns).includes(name as never))
    .map(({ name, type }) => {
      const affinity = affinityOf(type);
      return {
        name,
        type,
        affinity,
        isExact: name === 'id' ? affinity !== 'REAL' : /TEXT|NONE/.test(affinity),
      };
    });
  checkColumns(table, found, columns);
  return found;
}

/** The affinity of a column, by the rules of SQLite: REAL rounds ids, and what is no text changes names such as `007`. */
function affinityOf(type: string): Affinity {
  if (/INT/i.test(type)) return 'INTEGER';
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'TEXT';
  if (/BLOB|^$/i.test(type)) return 'NONE';
  return /REAL|FLOA|DOUB/i.test(type) ? 'REAL' : 'NUMERIC';
}
