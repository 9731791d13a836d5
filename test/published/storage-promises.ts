import type { NewPlant, Whole } from '../../src/index.js';
import { count, expectSame, int64Max, int64Min, show, type Trial, texts } from './trial.js';

interface StoragePromise {
  readonly id: string;
  readonly name: string;
  readonly check: (trial: Trial) => Promise<void>;
}

/** What `PlantStorage` promises, each with its check. */
export const storagePromises: readonly StoragePromise[] = [
  {
    id: 'created-lands',
    name: 'a created plant is stored at once, as it was given',
    async check(trial) {
      for (let id = 1n; id <= 20n; id++) await trial.expectCreated({ id, name: `Rosa ${id}`, tag: 'shrub' });
    },
  },
  {
    id: 'every-member',
    name: 'a plant with each of its members is stored, and found, with each of them',
    async check(trial) {
      const plant: Whole<NewPlant> = { id: 1n, name: 'Rosa', tag: 'shrub' };
      await trial.expectCreated(plant);
      const found = await trial.find(plant.id);
      if (found !== 'no find') expectSame(show(found), show(plant), `find of id ${plant.id}`);
    },
  },
  {
    id: 'taken-changes-nothing',
    name: 'a second create of an id is taken, and the first plant stays unchanged',
    async check(trial) {
      const first = { id: 7n, name: 'first', tag: 'kept' };
      await trial.expectCreated(first);
      await trial.expectTaken({ id: 7n, name: 'second' });
      await trial.expectStored(first);
      await trial.expectTaken(first);
      await trial.expectStored(first);
    },
  },
  {
    id: 'int64-edges',
    name: 'every int64 can be an id',
    async check(trial) {
      for (const id of [int64Min, int64Min + 1n, -1n, 0n, 1n, 2n ** 31n, int64Max - 1n, int64Max]) {
        await trial.expectCreated({ id, name: `plant ${id}` });
        await trial.expectTaken({ id, name: 'another' });
      }
    },
  },
  {
    id: 'int64-neighbours',
    name: 'neighbouring ids beyond 2^53 are two plants',
    async check(trial) {
      const ids = [2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n), -(2n ** 53n) - 1n, int64Max - 1n, int64Max];
      const plants = ids.map((id) => ({ id, name: `plant ${id}` }));
      for (const plant of plants) await trial.expectCreated(plant);
      for (const plant of plants) await trial.expectStored(plant);
    },
  },
  {
    id: 'unicode',
    name: 'text comes back character for character',
    async check(trial) {
      let id = 0n;
      for (const text of texts) {
        await trial.expectCreated({ id: id++, name: text, tag: 'as a name' });
        await trial.expectCreated({ id: id++, name: 'as a tag', tag: text });
      }
      await Promise.all(
        texts.map((text, i) => trial.expectCreated({ id: id + BigInt(i), name: text, tag: text })),
      );
    },
  },
  {
    id: 'tag-absent-or-empty',
    name: 'no tag and an empty tag are two things',
    async check(trial) {
      await trial.expectCreated({ id: 1n, name: 'without' });
      await trial.expectCreated({ id: 2n, name: 'empty', tag: '' });
      await trial.expectCreated({ id: 3n, name: 'undefined', tag: undefined });
    },
  },
  {
    id: 'long-text',
    name: 'a text of 100 000 or 500 000 characters is stored whole or rejected with an error, and other plants are stored meanwhile',
    async check(trial) {
      for (const [id, length] of [[10n, 100_000] as const, [20n, 500_000] as const]) {
        const long = { id, name: 'r\u00f8se '.repeat(length / 5), tag: 'x' };
        const neighbours = [1n, 2n, 3n].map((i) => ({ id: id + i, name: 'short' }));
        const [outcome] = await Promise.all([
          trial.create(long).catch(() => 'refused'),
          ...neighbours.map((plant) => trial.expectCreated(plant)),
        ]);
        if (outcome !== 'refused') {
          expectSame(outcome, 'created', 'create of a long text');
          await trial.expectStored(long);
        } else expectSame(await trial.has(id), false, 'whether a refused plant landed');
      }
    },
  },
  {
    id: 'race',
    name: 'exactly one of 32 racing creates of one id is created, and its plant is the stored one',
    async check(trial) {
      for (let id = 1n; id <= 8n; id++) {
        const plants = Array.from({ length: 32 }, (_, i) => ({ id, name: `racer ${i}` }));
        const outcomes = await Promise.all(plants.map((plant) => trial.create(plant)));
        expectSame(count(outcomes, 'created'), 1, 'how many racers got created');
        expectSame(count(outcomes, 'taken'), 31, 'how many racers got taken');
        await trial.expectStored(plants[outcomes.indexOf('created')]!);
      }
    },
  },
  {
    id: 'taken-is-stored',
    name: 'an id is taken only if a plant is stored under it',
    async check(trial) {
      const creates = Array.from({ length: 16 }, async (_, i) => {
        const id = BigInt(i % 4);
        if ((await trial.create({ id, name: `plant ${i}` })) === 'created') return;
        expectSame(await trial.has(id), true, `whether id ${id}, told taken, is stored`);
      });
      await Promise.all(creates);
    },
  },
  {
    id: 'many-at-once',
    name: 'each created plant of 300 concurrent creates is stored, although every fourth id is created twice',
    async check(trial) {
      const plants = Array.from({ length: 300 }, (_, i) => ({
        id: BigInt(i % 4 === 3 ? i - 1 : i) * 9_007_199_254_740_993n,
        name: `plant ${i}`,
        ...(i % 3 === 0 && { tag: `tag ${i}` }),
      }));
      const outcomes = await Promise.all(plants.map((plant) => trial.create(plant)));
      expectSame(count(outcomes, 'created'), 225, 'how many creates got created');
      expectSame(count(outcomes, 'taken'), 75, 'how many creates got taken');
      for (const [i, plant] of plants.entries())
        if (outcomes[i] === 'created') await trial.expectStored(plant);
    },
  },
  {
    id: 'namespaces',
    name: 'two callers that have their own ids create one id at once, and both plants are stored',
    async check(trial) {
      const { other } = trial;
      for (let id = 1n; id <= 8n; id++) {
        const plants = [0, 1, 2, 3].map((i) => ({ id, name: `plant ${i}` }));
        const creators = [trial, other, trial, other];
        const outcomes = await Promise.all(plants.map((plant, i) => creators[i]!.create(plant)));
        for (const caller of [trial, other]) {
          const own = outcomes.filter((_, i) => creators[i] === caller);
          expectSame(count(own, 'created'), 1, `how many of a caller's two creates of id ${id} got created`);
        }
        for (const [i, plant] of plants.entries())
          if (outcomes[i] === 'created') await creators[i]!.expectStored(plant);
      }
    },
  },
  {
    id: 'second-unique-column',
    name: 'if names are unique too, a plant of a free id with a name that exists is rejected, and never taken',
    async check(trial) {
      await trial.makeNamesUnique();
      const rose = { id: 1n, name: 'Rosa' };
      await trial.expectCreated(rose);
      await trial.expectRejected({ id: 2n, name: 'Rosa' });
      // Together, as in one batch.
      await Promise.all([
        trial.expectRejected({ id: 3n, name: 'Rosa' }),
        trial.expectCreated({ id: 4n, name: 'Ilex' }),
        trial.expectTaken({ id: 1n, name: 'Acer' }),
      ]);
      await trial.expectTaken(rose);
      await trial.expectCreated({ id: 2n, name: 'Quercus' });
      await trial.expectStored(rose);
    },
  },
  {
    id: 'lost-response',
    name: 'if the response to a stored plant is lost, its create is not taken, and does not say that nothing was stored',
    async check(trial) {
      const lone = { id: 1n, name: 'Rosa' };
      await trial.cut(lone.id);
      await trial.expectTrue(lone);
      await trial.expectStored(lone);
      // Together, as in one batch.
      const plants = [2n, 3n, 4n, 5n].map((id) => ({ id, name: `Ilex ${id}` }));
      await trial.cut(5n);
      await Promise.all(plants.map((plant) => trial.expectTrue(plant)));
      await trial.expectStored(plants[3]!);
    },
  },
  {
    id: 'serialization-failure',
    name: 'a plant that the database rolled back once is created by a retry, or its create throws',
    async check(trial) {
      await trial.fail('40001');
      await trial.expectTrue({ id: 1n, name: 'Rosa' });
      await trial.fail('40001');
      await Promise.all([2n, 3n, 4n].map((id) => trial.expectTrue({ id, name: 'Ilex' })));
      await trial.expectCreated({ id: 5n, name: 'Quercus' });
    },
  },
  {
    id: 'constraint',
    name: 'a plant that the database rejects is not stored, and its create throws',
    async check(trial) {
      await trial.fail('23000');
      await trial.expectRejected({ id: 1n, name: 'Rosa' });
      await trial.expectCreated({ id: 1n, name: 'Rosa' });
    },
  },
  {
    id: 'abort',
    name: 'a create whose client disconnects returns the true outcome, and other plants are stored meanwhile',
    async check(trial) {
      const gone = new AbortController();
      const create = (id: bigint, signal: AbortSignal) =>
        trial.create({ id, name: 'aborted' }, signal).catch(() => 'aborted');
      const early = create(1n, AbortSignal.abort());
      const late = create(2n, gone.signal);
      const neighbour = trial.expectCreated({ id: 3n, name: 'still here' });
      gone.abort();
      await neighbour;
      for (const [id, outcome] of [[1n, await early] as const, [2n, await late] as const]) {
        if (outcome !== 'aborted') {
          expectSame(outcome, 'created', `aborted create of the free id ${id}`);
          expectSame(await trial.has(id), true, `whether id ${id}, reported as created, is stored`);
        }
      }
    },
  },
  {
    id: 'find',
    name: 'find, if the storage has it, returns the stored plant exactly, and undefined for a free id',
    async check(trial) {
      if ((await trial.find(1n)) === 'no find') return;
      const plants = [
        { id: int64Min, name: texts.join(' '), tag: texts.join('|') },
        { id: 2n ** 53n, name: '' },
        { id: 2n ** 53n + 1n, name: 'empty tag', tag: '' },
      ];
      for (const plant of plants) await trial.expectCreated(plant);
      for (const plant of plants) {
        expectSame(show((await trial.find(plant.id)) as NewPlant), show(plant), `find of id ${plant.id}`);
      }
      expectSame(show((await trial.find(int64Max)) as undefined), 'no plant', 'find of a free id');
    },
  },
];
