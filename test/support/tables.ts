import type { NewPlant, Whole } from 'plant-store';

/**
 * The SQL of a table that `schemaOf` returned, with other definitions of some of its columns: a test names no more
 * columns than it is about.
 */
export function withColumns(schema: string, definitions: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(definitions));
  const column = /([(,] ?)(["`]?)(\w+)\2 [^(),]+(?:\(\d+\))?[^(),]*/g;
  const sql = schema.replace(column, (whole, before, mark, name) =>
    missing.delete(name) ? `${before}${mark}${name}${mark} ${definitions[name]}` : whole,
  );
  if (missing.size > 0) throw new Error(`no column ${[...missing].join()} in ${schema}`);
  return sql;
}

/** The SQL of a table that `schemaOf` returned, for options that follow its columns. */
export const unended = (schema: string): string => schema.replace(/;$/, '');

/** The plant in a row, as a test reads it without the storage. */
export function plantOf(row: Readonly<Record<string, unknown>> | undefined): Whole<NewPlant> | undefined {
  if (!row) return undefined;
  const { id, name, tag } = row as { id: bigint | string; name: string; tag: string | null };
  return { id: BigInt(id), name, tag: tag ?? undefined };
}
