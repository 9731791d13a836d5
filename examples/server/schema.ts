import { schemaOf as mysql } from 'plant-store/mysql';
import { schemaOf as postgres } from 'plant-store/postgres';
import { schemaOf as sqlite } from 'plant-store/sqlite';

const engines: Record<string, (options: { table: string | undefined }) => string> = {
  postgres,
  mysql,
  sqlite,
};

/** @throws {Error} with one line if the engine or the table's name is invalid */
export function schemaOf(engine: string | undefined, table?: string): string {
  const of = engine !== undefined && Object.hasOwn(engines, engine) && engines[engine];
  if (!of)
    throw new Error(`schema requires one of ${Object.keys(engines).join(', ')}, got ${engine ?? 'nothing'}`);
  return `${of({ table })};`;
}
