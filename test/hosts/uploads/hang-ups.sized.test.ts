// Clients that hang up in the middle of a body, alone and pipelined: each is 40007, which is in no log. Nobody has failed.
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSocket } from '../../support/connection.js';
import { isHeavy } from '../../support/heavy.js';
import { chunk, mountOf, raw } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { waitFor } from '../../support/wait-for.js';
import { oneMountOfEach, oneOfEachAdapter } from '../hosts.js';

const everyHost = isHeavy ? (await import('../../ecosystem/hosts.js')).everyHost : oneOfEachAdapter;
const isHttp1 = ({ name }: { name: string }) => !/http2|HTTP\/2|https/.test(name);
const onFetch = oneMountOfEach.filter(({ name }) => /^(h3|Hono)/.test(name));
const all = [...new Set([...everyHost, ...onFetch])].filter(isHttp1);

const token = 'Authorization: Bearer good';
const json = 'Content-Type: application/json';
const bodies = {
  'a declared length': raw([token, json, 'Content-Length: 100'], '{"id":'),
  chunks: raw([token, json, 'Transfer-Encoding: chunked'], chunk(Buffer.from('{"id":')).toString()),
};

describe.each(named(all))('on %s', (_, { basePath = '', start }) => {
  test.each(
    Object.entries(bodies).flatMap(([how, body]) =>
      [0, 2].flatMap((before) => ['reset', 'end'].map((way) => [how, before, way, body] as const)),
    ),
  )('a body of %s behind %i plants of one connection, by %s', async (_how, before, way, body) => {
    const logged: unknown[] = [];
    const ended: (number | undefined)[] = [];
    const handle = createPlantStore(memoryStorage(), acceptTokens('good'), {
      basePath,
      onError: (error) => void logged.push(error),
    });
    const { port, url, close } = await start(async (request) => {
      const response = await handle(request);
      ended.push(response.error ?? response.status);
      return response;
    });
    onTestFinished(close);
    const line = `POST ${mountOf(url)}/plants HTTP/1.1`;
    const plants = Array.from({ length: before }, (_, id) =>
      raw([token, json], `{"id":${id},"name":"Rosa"}`, { line }),
    );
    const socket = await openSocket(port);
    socket.on('error', () => {}).resume();
    const cut = body.replace(/^POST \S+ HTTP\/1.1/, line);
    await new Promise((resolve) => socket.write([...plants, cut].join(''), resolve));
    if (way === 'reset') socket.resetAndDestroy();
    else socket.end();
    await waitFor(() => expect(ended).toHaveLength(before + 1));
    expect(ended.at(-1)).toBe(40007);
    expect(logged).toEqual([]);
    socket.destroy();
  });
});
