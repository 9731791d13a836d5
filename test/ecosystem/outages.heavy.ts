// The alerts of examples/around/alerts.yml at any traffic: instances of an app with examples/around/metrics.ts on a simulated clock, what a
// Prometheus would have scraped of them, and what promtool says of that.
import { type CreateMany, RolledBack, StorageBusy } from 'plant-store';
import { expect, it } from 'vitest';
import { describeUnless } from '../support/obstacle.js';
import { randomOf, seed } from '../support/random.js';
import { expectNever, missing } from './prometheus.js';
import { type App, Fleet, type Instance, scrapeMs } from './simulated-fleet.js';

/** A total outage pages within this time, or with the second create that has failed, whichever is later: milliseconds. */
const inTimeMs = 45_000;
/** What has happened by then is scraped, and evaluated: once each. */
const lateMs = 2 * scrapeMs;

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const rolledBack =
  (reason: RolledBack['reason']): CreateMany<unknown> =>
  () =>
    Promise.reject(new RolledBack(reason, new Error(reason)));

interface Outage {
  readonly alert: string;
  /** So many creates in a row show it. */
  readonly shownBy?: number;
  readonly begin: (app: App, sleep: (ms: number) => Promise<void>) => void;
}

const storing =
  (createMany: CreateMany<unknown>): Outage['begin'] =>
  ({ world }) => {
    world.createMany = createMany;
  };

const outages: Readonly<Record<string, Outage>> = {
  'that refuses connections': {
    alert: 'PlantStoreUnavailable',
    begin: storing((_plants, _contexts, call) => {
      call.sent = false;
      throw new RolledBack('conflict', new Error('refused'));
    }),
  },
  'that refuses logins': {
    alert: 'PlantStoreUnavailable',
    begin: storing(() => Promise.reject(new StorageBusy('no login'))),
  },
  'that rolls all back': { alert: 'PlantStoreUnavailable', begin: storing(rolledBack('conflict')) },
  'whose table is locked': { alert: 'PlantStoreUnavailable', begin: storing(rolledBack('locked')) },
  'that is frozen': { alert: 'PlantStoreUnavailable', begin: storing(() => new Promise(() => {})) },
  'whose table is gone': { alert: 'PlantStoreTableUnusable', begin: storing(rolledBack('unusable')) },
  'that rejects each plant': {
    alert: 'PlantStoreTableUnusable',
    shownBy: 5,
    begin: storing(rolledBack('rejected')),
  },
  'that cuts each connection': {
    alert: 'PlantStoreConnectionsLost',
    begin: storing(() => Promise.reject(reset)),
  },
  'whose pool the app holds': {
    alert: 'PlantStorePoolExhausted',
    begin({ world, pool }, sleep) {
      Object.assign(pool, { totalCount: 10, idleCount: 0 });
      world.createMany = async (_plants, _contexts, call) => {
        call.sent = false;
        pool.waitingCount++;
        await sleep(5_000);
        pool.waitingCount--;
        throw new RolledBack('conflict', new Error('timeout'));
      };
    },
  },
  'whose issuer is down': {
    alert: 'PlantStoreVerifierDown',
    begin({ world }) {
      world.verify = () => Promise.reject(new Error('no keys'));
    },
  },
  'whose issuer hangs': {
    alert: 'PlantStoreVerifierDown',
    begin({ world }) {
      world.verify = () => new Promise(() => {});
    },
  },
};

/** Makes it whole again. */
function heal({ world, pool }: App): void {
  world.createMany = async (plants) => plants.map(() => 'created' as const);
  world.verify = (token) => token === 'secret';
  Object.assign(pool, { totalCount: 2, idleCount: 2 });
}

interface Traffic {
  readonly instances: number;
  /** Of all instances together: one of them each so many milliseconds, or several at once. */
  readonly everyMs: number;
  readonly atOnce?: number;
  readonly outageMs: number;
}

const traffics: Readonly<Record<string, Traffic>> = {
  'twenty instances with a create a minute each': { instances: 20, everyMs: 3_000, outageMs: 150_000 },
  'one with a create each five minutes': { instances: 1, everyMs: 300_000, outageMs: 3_000_000 },
  'one with ten a minute': { instances: 1, everyMs: 6_000, outageMs: 180_000 },
  'one with a thousand a second': { instances: 1, everyMs: 100, atOnce: 100, outageMs: 60_000 },
};

describeUnless(missing, 'an app', () => {
  it.each(
    Object.keys(outages).flatMap((outage) =>
      Object.keys(traffics).map((traffic) => [outage, traffic] as const),
    ),
  )(
    '%s, %s: the right alert comes in time, stays until a plant is stored, and ends then',
    async (outage, name) => {
      const { alert, shownBy = 2, begin } = outages[outage]!;
      const { instances, everyMs, atOnce = 1, outageMs } = traffics[name]!;
      const fleet = new Fleet();
      for (let i = 0; i < instances; i++) await fleet.deploy(`i${i}`);
      // Not at the time of a scrape.
      let next = 1_300;
      let turn = 0;
      const createUntil = async (ms: number) => {
        for (; next < ms; next += everyMs) {
          await fleet.until(next);
          for (let i = 0; i < atOnce; i++) fleet.create(fleet.instances[turn++ % instances]!);
        }
        await fleet.until(ms);
      };
      // Each instance has stored a plant.
      const began = Math.max(40_000, 2 * everyMs, instances * everyMs) + 900;
      await createUntil(began);
      for (const { app } of fleet.instances) begin(app, (ms) => fleet.clock.sleep(ms));
      const healed = began + outageMs;
      await createUntil(healed);
      expect(fleet.stored.at(-1)).toBeLessThan(began);
      for (const { app } of fleet.instances) heal(app);
      await createUntil(healed + instances * everyMs + 60_000);

      const shownAt = fleet.failed[shownBy - 1]!;
      const due = Math.max(began + inTimeMs, shownAt + lateMs);
      const storedAgain = fleet.stored.find((at) => at > healed)!;
      const over = storedAgain + lateMs;
      // Of two failures of its own, an instance recovers with a plant of its own.
      const overForAll = instances === 1 ? over : healed + instances * everyMs + lateMs;
      const pages = 'ALERTS{alertstate="firing",severity="page"}';
      const right = `ALERTS{alertstate="firing",alertname="${alert}"}`;
      expectNever(fleet.series, [
        ['an alert before the outage', pages, 0, began],
        ['another alert first', `count(${pages}) unless count(${right})`, began, due],
        ['no alert when it is due, or later', `absent(${right})`, due, storedAgain - scrapeMs],
        ['the alert after it was over', right, overForAll + scrapeMs, fleet.clock.now()],
        [
          'an alert that starts after it',
          `${pages} unless ${pages} offset 5s`,
          over + scrapeMs,
          fleet.clock.now(),
        ],
      ]);
    },
    120_000,
  );

  // A night and a morning, in parts: promtool takes no series of twelve hours. An afternoon has the load of the morning.
  it.each([0, 4, 8])(
    'raises no page in four hours of usual load, from %i:00, with a deployment, retries, rejected plants, a locked row and a failover',
    async (start) => {
      const hour = 3_600_000;
      const fleet = new Fleet();
      const random = randomOf(seed);
      /** Whether it is between two hours of the day. */
      const within = (from: number, to: number) => {
        const time = start + fleet.clock.now() / hour;
        return time >= from && time < to;
      };
      const stored = new Set<bigint>();
      const [lockedId, poison] = [-1n, -2n];
      // One of a hundred plants is too long, and one is that of a client which sends it again and again.
      const isRejected = ({ id }: { id: bigint }) => id % 100n === 7n || id === poison;
      const createMany: CreateMany<unknown> = async (plants) => {
        // A transaction that holds a row for an hour, and a failover of a second.
        const isLocked = plants.some(({ id }) => id === lockedId) && within(6, 7);
        await fleet.clock.sleep(isLocked ? 250 : 5);
        if (isLocked) throw new RolledBack('locked', new Error('locked'));
        if (within(10, 10 + 1 / 3_600)) throw new RolledBack('conflict', new Error('failover'));
        if (plants.some(isRejected)) throw new RolledBack('rejected', new Error('too long'));
        return plants.map(({ id }) => {
          if (stored.has(id)) return 'taken';
          stored.add(id);
          return 'created';
        });
      };
      const deploy = async (i: number) => {
        const instance = await fleet.deploy(`i${i}`);
        instance.app.world.createMany = createMany;
        return instance;
      };
      const serving: Instance[] = [await deploy(0), await deploy(1), await deploy(2)];
      const any = () => {
        const ready = serving.filter(({ isGone }) => !isGone);
        return ready[Math.floor(random() * ready.length)]!;
      };

      let id = 0;
      for (let second = 2; second < 4 * 3_600; second += 2) {
        await fleet.until(second * 1_000);
        // At night, one each ten seconds.
        const isNight = within(0, 5);
        if (!isNight || second % 10 === 0)
          fleet.create(any(), random() < 0.05 ? Math.ceil(random() * id) : ++id);
        if (within(6, 7) && second % 12 === 0) fleet.create(any(), Number(lockedId));
        if (second % 30 === 0) fleet.create(any(), Number(poison));
        // After an hour, one instance after the other does not respond for some seconds, and is then a new one.
        const [i, after] = [Math.floor(second / 60) - 60, second % 60];
        if (i >= 0 && i < 3 && after === 0) fleet.retire(serving[i]!);
        if (i >= 0 && i < 3 && after === 12) serving[i] = await deploy(i);
      }
      const pages = 'ALERTS{alertstate="firing",severity="page"}';
      expect(fleet.failed.length).toBeGreaterThan(100);
      expectNever(fleet.series, [['a page', pages, 60_000, fleet.clock.now()]]);
    },
    600_000,
  );
});
