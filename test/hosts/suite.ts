import { format, inspect } from 'node:util';
import { pinoHttp } from 'pino-http';
import { createPlantStore } from 'plant-store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, clientOf } from '../support/client.js';
import { type ContractCase, contractCases, contractSetup, requestOf } from '../support/contract.js';
import { expectCase } from '../support/expect-case.js';
import type { Running } from '../support/sockets.js';
import { titled, withIds } from '../support/titled.js';
import { type Host, theApp } from './hosts.js';

/** What has a request in it, in the words of those who log it as a whole: Node, JSON, winston, which copies it first, and pino. */
function logsOf(logged: object): string {
  const lines = [inspect(logged, { depth: null, showHidden: true, getters: true })];
  lines.push(JSON.stringify(logged), JSON.stringify({ ...logged }), inspect({ ...logged }));
  lines.push(format('%o', logged), format('%O %o %j', logged, { logged }, logged));
  const { logger } = pinoHttp({}, { write: (line) => void lines.push(line) });
  logger.error(logged);
  logger.error({ logged });
  return lines.join('\n');
}

/** What a request may show of itself: its method and its path. */
export function expectConcealed(logged: object): void {
  const lines = logsOf(logged);
  expect(lines).not.toMatch(/bearer|authorization|cookie|hidden|socket/i);
  for (const line of [JSON.stringify(logged), inspect(logged)]) expect(line).toMatch(/POST|GET|HEAD/);
}

/** Declares the contract table as tests of one host. */
export function contractOn({ basePath, others, quirks = {}, start }: Host): void {
  const setup = contractSetup();
  const handle = createPlantStore(setup.storage, setup.verifyToken, { ...setup.options, basePath });
  let running: Running;
  let client: Client;

  beforeAll(async () => {
    running = await start(handle);
    client = clientOf(running.url);
  });
  afterAll(async () => {
    client.close();
    await running.close();
  });

  const ours: ContractCase[] = [];
  const theirs: ContractCase[] = [];
  const odd: (ContractCase & { quirk: number })[] = [];
  for (const contractCase of contractCases) {
    const quirk = quirks[contractCase.id];
    const { status } = contractCase.expected;
    if (quirk) odd.push({ ...contractCase, quirk });
    // Another path or method: behind a mount, the app answers.
    else if (others && (status === 404 || status === 405)) theirs.push(contractCase);
    else ours.push(contractCase);
  }

  test.each(withIds(ours))('%s', async (_, contractCase) => {
    await expectCase(contractCase, setup, client.send);
    if (contractCase.expected.status < 500) return;
    const { request } = setup.errors.at(-1)!;
    expectConcealed(request);
    // By its name, the host's own request can still be read.
    expect(request.raw).toBeTypeOf('object');
  });

  test.each(withIds(theirs))(`%s, where ${others} responds`, async (_, contractCase) => {
    const request = requestOf(contractCase, contractCase.request);
    // Some hosts refuse a content type without a body.
    if (!request.body) delete request.headers['content-type'];
    const { status, text } = await client.send(request);
    if (others === 'the framework') expect(text).not.toMatch(/"error": ?40[45]01/);
    else expect({ status, text }).toEqual({ ...theApp, ...(request.method === 'HEAD' && { text: '' }) });
    expect(setup.stored(contractCase)).toEqual([]);
  });

  test.each(titled(odd, ({ id, quirk }) => `${id}: this host makes it ${quirk}`))(
    '%s',
    async (_, contractCase) => {
      const { status } = await client.send(requestOf(contractCase, contractCase.request));
      expect(status).toBe(contractCase.quirk);
    },
  );
}
