import { schema as mysql } from 'plant-store/mysql';
import { schema as postgres } from 'plant-store/postgres';
import { schema as sqlite } from 'plant-store/sqlite';

const engines: Record<string, (table: string) => string> = {
  postgres: (table) => named(postgres, '"', table.split('.')),
  mysql: (table) => named(mysql, '`', table.split('.')),
  sqlite: (table) => named(sqlite, '"', [table]),
};

/** @throws {Error} with one line if the engine or the table's name is invalid */
export function schemaOf(engine: string | undefined, table = 'plants'): string {
  const of = engine !== undefined && Object.hasOwn(engines, engine) && engines[engine];
  if (!of)
    throw new Error(`schema requires one of ${Object.keys(engines).join(', ')}, got ${engine ?? 'nothing'}`);
  return `${of(table)};`;
}

function named(schema: string, mark: string, parts: readonly string[]): string {
  if (parts.length > 2 || parts.includes(''))
    throw new Error('--table must be a name, or a schema and a name with a dot between');
  const quoted = parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
  return schema.replace(`${mark}plants${mark}`, () => quoted);
}
