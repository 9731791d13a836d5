/** The bodies of the matrix, what comes of each, and their test behind one row. */
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Running, raw, Wire } from '../../support/sockets.js';
import type { Start } from '../hosts.js';
import { errorOf, json, token } from '../node/server.js';

export const é = '{"id":1,"name":"é"}';
const notUtf8 = Buffer.from(é, 'latin1');
const bodies = {
  'a plant with a small id': é,
  'a plant with an id beyond 2^53': '{"id":9007199254740993,"name":"é"}',
  'a body that is not JSON': '{"id":1,"name":',
  'an empty body': '',
  'a body that is not UTF-8': notUtf8,
  'a byte order mark': `\ufeff${é}`,
};

/** 200, or the number of the Error; or the response of a parser that comes before. */
type Outcome = 200 | 40001 | 40002 | 50003 | 'own 400';

/** One outcome for each body, in their order. */
export type Outcomes = readonly Outcome[];
export const exact: Outcomes = [200, 200, 40001, 40001, 40001, 200];
export const decoded: Outcomes = [200, 200, 40001, 40001, 50003, 200];
export const gone: Outcomes = [50003, 50003, 50003, 40001, 50003, 50003];
export const goneFromFetch: Outcomes = [50003, 50003, 50003, 50003, 50003, 50003];
export const behindExpress: Outcomes = [50003, 50003, 'own 400', 40001, 50003, 50003];
/** A parser takes what is not UTF-8 for U+FFFD. */
export const parsed: Outcomes = [200, 50003, 'own 400', 40001, 200, 200];
export const keptBytes: Outcomes = [200, 200, 'own 400', 40001, 40001, 200];
export const keptText: Outcomes = [200, 200, 'own 400', 40001, 50003, 200];

/** Sends a body in one packet with the head; or in two, the second after the server has seen the first. */
async function send({ port, server }: Running, authorization: string, body: string | Buffer, packets: 1 | 2) {
  const wire = await Wire.open(port);
  const bytes = Buffer.from(body as string);
  const head = Buffer.from(raw([authorization, json, `Content-Length: ${bytes.length}`]));
  const first = packets === 1 ? bytes.length : 7;
  const isSeen = new Promise((resolve) => {
    server.once('request', () => setImmediate(() => setImmediate(resolve)));
  });
  await wire.write(Buffer.concat([head, bytes.subarray(0, first)]));
  await isSeen;
  await wire.write(bytes.subarray(first));
  const answer = await wire.answer();
  wire.destroy();
  return answer;
}

const advice = expect.stringMatching(/(mount|register) plant-store (above|before)/);
export const adviceToFetch = expect.stringMatching(
  /call plant-store first, .* await cloneRawRequest\(c\.req\)$/,
);

/** Declares one row: each body, in one packet and in two. */
export function bodiesBehind(outcomes: Outcomes, start: Start): void {
  const plants = new Map<bigint, NewPlant>();
  const told: string[] = [];
  const handle = createPlantStore(memoryStorage(plants), acceptTokens('good'), {
    onError: (error) => void told.push((error as Error).message),
  });
  let running: Running;
  beforeAll(async () => {
    running = await start(handle);
  });
  afterAll(() => running.close());

  const cells = Object.entries(bodies).map(([what, body], i) => [what, outcomes[i]!, body] as const);

  test.each(cells)('%s returns %s', async (_, outcome, body) => {
    for (const packets of [1, 2] as const) {
      plants.clear();
      told.length = 0;
      const { status, text } = await send(running, token, body, packets);
      const error = outcome === 'own 400' ? undefined : outcome;
      if (!error) expect([status, text]).toEqual([400, expect.not.stringContaining('"error":4')]);
      else if (error !== 200) expect(JSON.parse(text).error).toBe(error);
      const id = /\d+/.exec(`${body}`)?.[0];
      const name = outcomes === parsed && body === notUtf8 ? '\ufffd' : 'é';
      expect([...plants.values()]).toEqual(outcome === 200 ? [{ id: BigInt(id!), name }] : []);
      const line = outcomes === goneFromFetch || outcomes === behindExpress ? adviceToFetch : advice;
      expect(told).toEqual(outcome === 50003 ? [line] : []);
    }
  });

  test('an invalid token is a 401', async () => {
    expect(errorOf(await send(running, 'Authorization: Bearer bad', é, 2))).toBe(40102);
  });
}
