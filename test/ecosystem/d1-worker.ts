// A Worker that runs each batch that it gets on its D1.
interface Statement {
  readonly sql: string;
  readonly args: readonly string[];
}
interface D1 {
  prepare(sql: string): { bind(...args: readonly string[]): unknown };
  batch(statements: readonly unknown[]): Promise<unknown>;
}

export default {
  async fetch(request: Request, { DB }: { readonly DB: D1 }): Promise<Response> {
    const statements = (await request.json()) as Statement[];
    try {
      return Response.json(await DB.batch(statements.map(({ sql, args }) => DB.prepare(sql).bind(...args))));
    } catch (error) {
      return Response.json({ message: (error as Error).message });
    }
  },
};
