// What single settings of examples/cluster are worth, for its page: RECORD=settings npm run test:cluster
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterAll, inject, it } from 'vitest';
import type { Machine } from './network.js';
import { Findings, faultMs, flap, survive } from './partitions.js';
import { PatroniCluster } from './patroni.js';

const findings = new Findings();
afterAll(() => findings.print());

type Fault = (cluster: PatroniCluster, primary: Machine, others: readonly Machine[]) => Promise<void>;

const faults: Record<string, Fault> = {
  async 'the primary cut off from all'({ network }, primary, others) {
    network.cut([primary], [network.app, ...others]);
    await sleep(faultMs);
  },
  async 'the primary cut off from its peers'({ network }, primary, others) {
    network.cut([primary], others);
    await sleep(faultMs);
  },
  async 'the app cut off three times for 5 s, then the links of the primary come and go'(
    { network },
    primary,
  ) {
    for (let i = 0; i < 3; i++) {
      network.cut([network.app], network.nodes);
      await sleep(5_000);
      network.heal();
      await sleep(5_000);
    }
    await flap(network, primary);
  },
};

const asItStands = (text: string) => text;
const withoutShutdown = (text: string) => text.replace(' on-marked-down shutdown-sessions', '');

it.skipIf(inject('obstacle')).each<[keyof typeof faults, string, (text: string) => string, object?]>([
  ['the primary cut off from all', 'as the files are', asItStands],
  ['the primary cut off from all', 'without on-marked-down shutdown-sessions', withoutShutdown],
  [
    'the primary cut off from all',
    'without on-marked-down shutdown-sessions, with keepAlive in the pool',
    withoutShutdown,
    { keepAlive: true, keepAliveInitialDelayMillis: 1_000 },
  ],
  [
    'the primary cut off from all',
    'with the timeouts of examples/storages/postgres.ts',
    asItStands,
    { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 },
  ],
  [
    'the primary cut off from all',
    "HAProxy's checks at their defaults",
    (text) => text.replace(' inter 500ms fall 2 rise 1', ''),
  ],
  ['the primary cut off from its peers', 'as the files are', asItStands],
  ['the primary cut off from its peers', 'ttl: 7', (text) => text.replace('ttl: 20', 'ttl: 7')],
  [
    'the app cut off three times for 5 s, then the links of the primary come and go',
    'as the files are',
    asItStands,
  ],
  [
    'the app cut off three times for 5 s, then the links of the primary come and go',
    'without tcp_keepalives and tcp_user_timeout',
    (text) => text.replace(/^ *tcp_.*$/gm, ''),
  ],
])('%s: %s', async (fault, what, change, pool) => {
  const cluster = await PatroniCluster.start({ change });
  try {
    const admin = new pg.Pool({ connectionString: cluster.url });
    await postgresStorage(admin).createTable();
    await admin.end();
    const primary = (await cluster.primary()).machine;
    const others = cluster.network.nodes.filter((machine) => machine !== primary);
    const fail = () => faults[fault]!(cluster, primary, others);
    await survive({ cluster, table: 'plants', findings, withinMs: 60_000, pool }, `${fault}: ${what}`, fail);
  } finally {
    await cluster.close();
  }
});
