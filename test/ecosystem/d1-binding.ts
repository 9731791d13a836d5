/** A binding of the D1 behind d1-worker.ts, to which each batch is one request. */
export const d1Binding = (url: string) => ({
  prepare: (sql: string) => ({ bind: (...args: readonly unknown[]) => ({ sql, args }), sql, args: [] }),
  async batch(statements: readonly unknown[]): Promise<{ results: unknown[] }[]> {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(statements) });
    const results = (await response.json()) as { results: unknown[] }[] | { message: string };
    if ('message' in results) throw new Error(results.message);
    return results;
  },
  dump() {},
  exec() {},
  withSession() {},
});
