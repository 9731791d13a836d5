import type { PgClient } from './_postgres-pool.js';

/** A Client of `pg`, which also takes a statement with a name. */
interface NamingClient {
  query(statement: { name: string; text: string; values: unknown[] }): ReturnType<PgClient['query']>;
}

/** There is no such statement, or another one of its name: a pooler has changed the connection, or the app reset it. */
const notPrepared = ['26000', '42P05'];

/** A statement that each connection parses and plans once, if its driver is `pg`: half of the time of a lone INSERT. */
export class PreparedStatement {
  /** Made of the text, because a pooler may run what another process has prepared under this name. */
  readonly #name: string;
  #isKept = true;

  constructor(readonly text: string) {
    this.#name = `plant_store_${hashOf(text)}`;
  }

  async run(client: PgClient, values: unknown[]): ReturnType<PgClient['query']> {
    const { text } = this;
    if (!this.#isKept || !canPrepare(client)) return client.query(text, values);
    try {
      return await (client as unknown as NamingClient).query({ name: this.#name, text, values });
    } catch (error) {
      if (!notPrepared.includes((error as { code?: string } | undefined)?.code ?? '')) throw error;
      // Nothing has run. The next statements would fail as well, so none is named from now on.
      this.#isKept = false;
      return client.query(text, values);
    }
  }
}

/** Whether the driver is `pg` in JavaScript, whose clients take a statement with a name. */
export function canPrepare({ connection }: PgClient): boolean {
  return connection?.parsedStatements !== undefined;
}

/** FNV-1a, of 64 bits. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  }
  return hash.toString(36);
}
