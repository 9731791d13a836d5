import { schemaOf as mysql } from 'plant-store/mysql';
import { schemaOf as postgres } from 'plant-store/postgres';
import { schemaOf as sqlite } from 'plant-store/sqlite';
import { described } from './printable.js';

const schemas: Record<string, (options: { table: string | undefined }) => string> = {
  postgres,
  mysql,
  sqlite,
};

export const engines: readonly string[] = Object.keys(schemas);

/** @throws {Error} with one line if the engine or the table's name is invalid */
export function schemaOf(engine: string | undefined, table?: string): string {
  const of = engine !== undefined && Object.hasOwn(schemas, engine) && schemas[engine];
  if (!of) throw new Error(`schema requires one of ${engines.join(', ')}, got ${described(engine)}`);
  return `${of({ table })};`;
}
