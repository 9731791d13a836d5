import pg from 'pg';
import { postgresStorage } from 'plant-store/postgres';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { Doorway } from '../../support/doorway.js';
import { randomOf, seed } from '../../support/random.js';
import { Load } from './load.js';
import { clean } from './machine.js';
import { type Postgres, primaryAndStandby } from './postgres.js';

describe.skipIf(inject('obstacle'))(`postgresStorage on a primary and a standby (seed ${seed})`, () => {
  const choose = randomOf(seed);
  let primary: Postgres;
  let standby: Postgres;
  let doorway: Doorway;
  let load: Load;

  afterEach(async () => {
    load?.kill();
    doorway?.close();
    await clean([primary.daemon, standby.daemon], primary.daemon.folder);
  });

  async function start({ synchronous = true } = {}): Promise<void> {
    [primary, standby] = await primaryAndStandby({ synchronous });
    doorway = await Doorway.before({ host: '127.0.0.1', port: primary.port });
    const pool = new pg.Pool({ connectionString: primary.url });
    await postgresStorage(pool).createTable();
    await pool.end();
    const url = `postgres://postgres@127.0.0.1:${doorway.port}/postgres`;
    // Two stores in each app, so that batches of one app meet too.
    load = new Load({ table: 'plants', urls: [url, url], timeoutMs: 4_000 });
    // A fault comes when all are at work.
    await load.tells('created', 300 + Math.floor(choose() * 700));
  }

  /** The primary is dead for good before another takes its place: otherwise there would be two. */
  async function failOver(): Promise<void> {
    await primary.daemon.signal('SIGKILL');
    if (!standby.daemon.isRunning) {
      standby.start();
      await standby.ready();
    }
    await standby.promote();
    doorway.leadTo({ host: '127.0.0.1', port: standby.port });
  }

  const faults = (server: Postgres) => load.faults(async () => [await server.plants()]);

  it('keeps its promises while nothing fails', async () => {
    await start();
    await load.tells('created', 3_000);
    await load.tells('taken', 100);
    expect(await faults(primary)).toEqual([]);
    expect(load.counts.unknown + load.counts.refused).toBe(0);
  });

  it('keeps its promises while connections and statements are killed', async () => {
    await start();
    for (let killed = 0; killed < 60; ) {
      killed += await primary.killConnections(choose() < 0.5 ? 'pg_terminate_backend' : 'pg_cancel_backend');
      await load.tells('created', 1);
    }
    await load.tells('created', 300);
    expect(await faults(primary)).toEqual([]);
    expect(load.counts.unknown).toBeGreaterThan(0);
  });

  it('keeps its promises when the primary is killed and the standby promoted', async () => {
    await start();
    await primary.isAtWork();
    await failOver();
    await load.tells('created', 1_000);
    expect(await faults(standby)).toEqual([]);
  });

  it('keeps its promises when the primary crashes and comes back', async () => {
    await start();
    await primary.daemon.signal('SIGKILL');
    primary.start();
    await load.tells('created', 1_000);
    expect(await faults(primary)).toEqual([]);
  });

  it('keeps its promises when the standby is frozen, and resumed', async () => {
    await start();
    await standby.daemon.signal('SIGSTOP');
    await load.tells('failed', 48);
    const before = load.counts.created;
    await load.tells('failed', 48);
    expect(load.counts.created).toBe(before);
    await standby.daemon.signal('SIGCONT');
    await load.tells('created', 1_000);
    expect(await faults(primary)).toEqual([]);
  });

  it('does not return created for a plant of a primary alone, whose wait is cut short before it crashes', async () => {
    await start();
    await standby.daemon.signal('SIGKILL');
    for (let cut = 0; cut < 20; ) cut += await primary.cutWaits();
    await failOver();
    await load.tells('created', 1_000);
    // PostgreSQL shows the plant of the primary alone to the next create of the id, and cannot be made to wait again.
    const isKnown = (fault: string) => fault.startsWith('taken by nobody');
    expect((await faults(standby)).filter((fault) => !isKnown(fault))).toEqual([]);
    expect([...load.failures.keys()].join()).toContain('synchronous replication');
  });

  it('loses plants with an asynchronous standby, which the checker detects', async () => {
    await start({ synchronous: false });
    await standby.daemon.signal('SIGKILL');
    await load.tells('created', 1_000);
    await failOver();
    await load.tells('created', 100);
    expect(await faults(standby)).toContainEqual(expect.stringMatching(/^lost: /));
  });
});
