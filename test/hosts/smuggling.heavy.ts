/**
 * Requests whose end two readers may see in two places, direct and behind proxies that reuse their connections: no other
 * client gets a wrong response, and no hidden request is obeyed.
 */
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.js';
import { describeUnless } from '../support/obstacle.js';
import { mountOf, type Running, Wire } from '../support/sockets.js';
import { behind, proxies } from './company/proxies.js';
import { type Host, hostNamed, oneOfEachAdapter } from './hosts.js';

const plant = (id: number) => `{"id":${id},"name":"${id}"}`;
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };

/** Ways to declare an end that some reader once took for another (RFC 9112 §6 and §11.2). */
const framings = [
  ...['chunked', 'Chunked', ' chunked', '\tchunked', '\x0bchunked', 'xchunked', 'chunked,', ',chunked'],
  ...['"chunked"', 'identity, chunked', 'chunked, identity', 'gzip, chunked'],
  ...['chunked\r\nTransfer-Encoding: x', 'x\r\n chunked'],
].flatMap((coding) => [
  `Content-Length: 4\r\nTransfer-Encoding: ${coding}`,
  `Transfer-Encoding: ${coding}\r\nContent-Length: 4`,
  `Transfer-Encoding : ${coding}\r\nContent-Length: 4`,
  `X: x\nTransfer-Encoding: ${coding}\r\nContent-Length: 4`,
]);
const lengths = ['4\r\nContent-Length: 500', '500\r\nContent-Length: 4', '4, 500', '+4', '0x4', '4 4', '-4'];
framings.push(
  ...[...lengths, '4;a', '4e0'].map((length) => `Content-Length: ${length}`),
  ...['Content-Length : 4', 'Content-Length\t: 4', 'Content_Length: 500\r\nContent-Length: 4'],
);
const lines = ['POST', 'GET', 'HEAD', 'OPTIONS'];
const ends = [
  ...['0\r\n\r\n', '0\n\n', '0\r\n\n', '0;x\r\n\r\n', '0\r\nX: y\r\n\r\n', '0x0\r\n\r\n'],
  '00000000000000000\r\n\r\n',
];

/** An attack: a request, in whose body another one is hidden. */
const attacks = (path: string) =>
  framings.flatMap((framing, i) => {
    const head = (method: string, more: string) =>
      `${method} ${path}/plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
    const hidden = head('POST', `Content-Length: ${plant(-1).length}`) + plant(-1);
    return head(lines[i % lines.length]!, framing) + ends[i % ends.length] + hidden;
  });

/** Sends each attack over a connection of its own, and after it three creates by clients that did nothing wrong. */
function isSafe(host: Host, isDirect: boolean): void {
  const plants = new Map<bigint, NewPlant>();
  let running: Running;
  beforeAll(async () => {
    const options = { basePath: host.basePath, timeoutMs: 300 };
    running = await host.start(createPlantStore(memoryStorage(plants), acceptTokens('secret'), options));
  });
  afterAll(() => running.close());

  test(`${attacks('').length} attacks`, { timeout: 300_000 }, async () => {
    const client = clientOf(running.url);
    let id = 0;
    for (const attack of attacks(mountOf(running.url))) {
      const wire = await Wire.open(running.port);
      await wire.write(Buffer.from(attack, 'latin1'));
      await Promise.race([wire.answer().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500))]);
      for (let i = 0; i < 3; i++) {
        const body = new TextEncoder().encode(plant(++id));
        const { status, text } = await client.send({ method: 'POST', path: '/plants', headers, body });
        expect([status, text], JSON.stringify(attack)).toEqual([200, `{"name":"${id}"}`]);
      }
      wire.destroy();
      // A proxy may end the first request where the attacker does: then the second one is the attacker's own.
      if (isDirect) expect([...plants.keys()], JSON.stringify(attack)).not.toContain(-1n);
    }
    client.close();
  });
}

const overHttp1 = oneOfEachAdapter.filter(({ name }) => name !== 'node:http2');
describe.each(overHttp1)('on $name, directly', (host) => isSafe(host, true));
for (const proxy of proxies) {
  const host = proxy.isHttp2 ? 'node:http2' : 'node:http';
  describeUnless(proxy.obstacle, `on ${host} behind ${proxy.name}`, () =>
    isSafe(behind(proxy, hostNamed(host)), false),
  );
}
