import { cutsSpaces } from '../_shared/columns.js';
import type { Dialect } from '../_shared/table.js';

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
