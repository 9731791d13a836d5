import type { Dialect } from '../_shared/table.js';

// By the affinity of a type, in SQLite's own order: REAL rounds ids, and what is no text changes names such as `007`.
const texts = /^(?!.*INT)(.*(CHAR|CLOB|TEXT|BLOB)|$)/i;
const ids = /INT|CHAR|CLOB|TEXT|BLOB|^(?!.*(REAL|FLOA|DOUB))/i;
const keys = /INT|CHAR|CLOB|TEXT|BLOB|^$/i;
export const dialect: Dialect = {
  mark: '"',
  types: { id: 'INTEGER', name: 'TEXT', tag: 'TEXT' },
  exact: { id: ids, name: texts, tag: texts, namespace: keys },
  text: 'TEXT',
};
