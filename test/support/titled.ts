/**
 * Rows for `test.each`, each behind its title, for the template `%s`. Vitest would quote the text of a `$name` and cut it
 * after 40 characters.
 */
export const titled = <Row>(
  rows: readonly Row[],
  titleOf: (row: Row) => string,
): [title: string, row: Row][] => rows.map((row) => [titleOf(row), row]);

/** Hosts and other rows that have a name. */
export const named = <Row extends { readonly name: string }>(rows: readonly Row[]) =>
  titled(rows, ({ name }) => name);

/** Cases of the contract: the stable id, then the rule. */
export const withIds = <Row extends { readonly id: string; readonly title: string }>(rows: readonly Row[]) =>
  titled(rows, ({ id, title }) => `${id}: ${title}`);
