/** Tests of an app on Deno, whose sanitizers report a timer, a channel or a port that a request has left behind. */
import { acceptTokens, createPlantStore, groupCommit, type PlantStorage } from 'plant-store';
import { toFetch } from 'plant-store/fetch';

declare const Deno: {
  test(options: object, run: () => Promise<void>): void;
  serve(
    options: object,
    handler: ReturnType<typeof toFetch>,
  ): { addr: { port: number }; shutdown(): Promise<void> };
};

const later = () => new Promise<'created'>((resolve) => setTimeout(resolve, 5, 'created'));
const slow: PlantStorage = { create: later };
const batches = groupCommit(async (plants) => {
  await later();
  return plants.map(() => 'created');
});
const plant = '{"id":1,"name":"Rosa"}';
const big = ' '.repeat(3_000_000);

const cases: [storage: PlantStorage, token: string, body: string, status: number][] = [
  [slow, 'secret', plant, 200],
  [batches, 'secret', plant, 200],
  [slow, 'bad', plant, 401],
  [slow, 'bad', big, 401],
  [slow, 'secret', big, 400],
  [{ create: () => new Promise(() => {}) }, 'secret', plant, 503],
];

for (const [i, [storage, token, body, expected]] of cases.entries()) {
  Deno.test({ name: `${i}`, sanitizeOps: true, sanitizeResources: true }, async () => {
    const options = { timeoutMs: 100, onError: () => {} };
    const fetchPlants = toFetch(createPlantStore(storage, acceptTokens('secret'), options));
    const server = Deno.serve({ port: 0, onListen() {} }, fetchPlants);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${server.addr.port}/plants`;
    const send = (id: number) => fetch(url, { method: 'POST', headers, body: body.replace('1', `${id}`) });
    for (const response of await Promise.all([send(1), send(2)])) {
      if (response.status !== expected) throw new Error(`${response.status}, not ${expected}`);
      await response.text();
    }
    await server.shutdown();
  });
}
