/**
 * `node --import tsx test/programs/bench/log.ts`: what the default of `onError` costs beside one that does nothing, in milliseconds
 * of CPU: medians of seven interleaved pairs. It writes to nowhere.
 */
import {
  createPlantStore,
  type PlantRequest,
  type PlantStorage,
  StorageBusy,
  type VerifyToken,
} from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';

console.error = () => {};

const jwt = `e30.${btoa(JSON.stringify({ sub: 'jane.roe@example.org', scope: 'plants:write' })).replaceAll('=', '')}.c2lnbmF0dXJl`;
const ofBrowser = {
  host: 'plants.example.com',
  authorization: `Bearer ${jwt}`,
  'content-type': 'application/json',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  accept: 'application/json, text/plain, */*',
  'accept-language': 'de,en-US;q=0.7,en;q=0.3',
  cookie: `session=${'5f'.repeat(32)}; theme=dark`,
  referer: 'https://plants.example.com/plants/new?q=Rosa%20canina',
};
const requestOf = (id: number, more: Partial<PlantRequest> = {}): PlantRequest => ({
  method: 'POST',
  url: '/plants?q=Rosa%20canina',
  headers: ofBrowser,
  body: `{"id":${id},"name":"Rosa canina","tag":"shrub"}`,
  ...more,
});
const rejecting = (error: unknown): PlantStorage => ({ create: () => Promise.reject(error) });
const created: PlantStorage = { create: async () => 'created' };

interface Scenario {
  readonly storage: () => PlantStorage;
  readonly verifyToken?: VerifyToken<true>;
  readonly requests: readonly PlantRequest[];
  /** How often each request is sent. */
  readonly rounds?: number;
}

const times = <T>(count: number, make: (id: number) => T) =>
  Array.from({ length: count }, (_, id) => make(id));

const nobody = {
  query: async () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
};
const long = 'rosa canina '.repeat(87_000);
const scenarios: Readonly<Record<string, Scenario>> = {
  '9 000 creates that end with one error': {
    storage() {
      const cause = Object.assign(new Error('canceling statement of Rosa canina'), { code: '57014' });
      return { create: async () => Promise.reject(new StorageBusy('the storage is unavailable', { cause })) };
    },
    requests: times(9_000, (id) => requestOf(id)),
  },
  '800 clients of a database that stops, three times each': {
    storage: () => postgresStorage(nobody, { timeoutMs: 300 }),
    requests: times(800, (id) => requestOf(id)),
    rounds: 3,
  },
  '1 000 requests with 15 kB of headers while the verifier is down': {
    storage: () => created,
    verifyToken: async () => {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      });
    },
    requests: times(1_000, (id) => requestOf(id, { headers: { ...ofBrowser, x: 'a.'.repeat(7_500) } })),
  },
  'a plant of 1 MB that a trigger quotes in lower case': {
    storage: () => rejecting(Object.assign(new Error(`no bed for ${long}`), { code: 'P0001', where: long })),
    requests: [requestOf(1, { body: JSON.stringify({ id: 1, name: long.toUpperCase() }) })],
  },
};

/** Milliseconds of CPU. */
async function cpuOf(
  { storage, verifyToken = () => true, requests, rounds = 1 }: Scenario,
  isSilent: boolean,
) {
  const options = { bodyLimit: 2 ** 22, ...(isSilent && { onError: () => {} }) };
  const handle = createPlantStore(storage(), verifyToken, options);
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const responses = await Promise.all(requests.map((request) => handle(request)));
    if (responses.some(({ status }) => status < 500)) throw new Error('each must be a 5xx');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

console.log('| what | default | silent | more |\n|---|---|---|---|');
for (const [what, scenario] of Object.entries(scenarios)) {
  const pairs: (readonly [number, number])[] = [];
  for (let i = -1; i < 7; i++) {
    const pair = [await cpuOf(scenario, false), await cpuOf(scenario, true)] as const;
    // The first warms up.
    if (i >= 0) pairs.push(pair);
  }
  const [loud, silent] = [median(pairs.map(([each]) => each)), median(pairs.map(([, each]) => each))];
  const more = median(pairs.map(([one, other]) => one - other));
  console.log(`| ${what} | ${loud.toFixed(1)} ms | ${silent.toFixed(1)} ms | **${more.toFixed(1)} ms** |`);
}
process.exit();
