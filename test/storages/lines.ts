// The codes that a database sends while creates fail, each provoked on a real server: what the first line of the log says of it.
import { createPlantStore, describeError } from 'plant-store';
import { expect, it, onTestFinished } from 'vitest';

/** A statement that fails, after those that prepare it, and what the line has of its error. */
export interface Provoked {
  readonly what: string;
  readonly before?: readonly string[];
  readonly fails: string;
  /** The code with its name, the fields, and the beginning of the advice. */
  readonly line: RegExp;
}

/** A connection of its own, to a table without plants. */
export interface Session {
  readonly run: (sql: string) => Promise<unknown> | unknown;
  readonly close: () => Promise<unknown> | unknown;
}

/** In everything that a client can send, and that a database may quote. */
export const quoted = 'Rosa zq7Xm2LwT9';

/** Whose headers have the words that a line has: a scope, a host, a referer. */
const request = {
  method: 'POST',
  url: '/plants?plants=plants_name_check',
  headers: {
    ':authority': 'plants.example.com',
    host: 'plants.example.com',
    referer: 'https://example.com/plants',
    authorization: `Bearer e30.${btoa('{"scope":"plants:write 23514 check_violation"}').replaceAll('=', '')}.c2ln`,
    'content-type': 'application/json',
  },
  body: `{"id":1,"name":"${quoted}","tag":"plants"}`,
};

/** Expects of the error of each statement that its line has what an operator needs, whatever the request has, and no value. */
export function itShowsCodes(provoked: readonly Provoked[], open: () => Promise<Session> | Session): void {
  it.each(provoked.map((each) => [each.what, each] as const))(
    '%s',
    async (_, { before = [], fails, line }) => {
      const { run, close } = await open();
      onTestFinished(async () => void (await close()));
      for (const statement of before) await run(statement);
      let error: unknown;
      try {
        await run(fails);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeDefined();
      const lines: string[] = [];
      const handle = createPlantStore({ create: () => Promise.reject(error) }, () => true, {
        onError: (thrown, _request, code) => void lines.push(describeError(thrown, code)),
      });
      await handle(request);
      expect(lines).toEqual([expect.stringMatching(line)]);
      expect(lines[0]).not.toMatch(/Rosa|zq7X/);
    },
  );
}
