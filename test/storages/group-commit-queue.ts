// What the tests of the group commit share: a queue on a simulated clock, and a database that behaves as a test says.
import type { CreateMany, GroupCommitOptions, NewPlant, StorageContext } from 'plant-store';
import { groupCommit, RolledBack } from 'plant-store';
import { onTestFinished, vi } from 'vitest';
import { SimulatedClock } from '../support/clock.js';
import { useClock } from '../support/use-clock.js';
import { contextOf } from './context.js';

/** A script's: nobody shares the queue with it. */
export const context = contextOf<unknown>('');
export const plant = (id: number, name = `plant ${id}`): NewPlant => ({ id: BigInt(id), name });
export const idsOf = (plants: readonly NewPlant[]) => plants.map(({ id }) => Number(id));
export const created = (plants: readonly NewPlant[]) => plants.map(() => 'created' as const);
export const answers: CreateMany<unknown> = async (plants) => created(plants);

export const hangs = () => new Promise<never>(() => {});
export const rejects = (reason: RolledBack['reason'], cause: unknown) => () =>
  Promise.reject(new RolledBack(reason, cause));
export const refused = new Error('connection refused');
export const refuses = rejects('conflict', refused);

/** How a create ended, and how many milliseconds after its call. */
export interface Told {
  outcome: unknown;
  after: number;
}

export const outcomesOf = (creates: readonly Told[]) => creates.map(({ outcome }) => outcome);

/** A queue whose database behaves as `database.current` does. */
export function open(options: GroupCommitOptions = { timeoutMs: 1_000 }, behaviour = answers) {
  const clock = new SimulatedClock();
  const database = { current: behaviour };
  const createMany = vi.fn<CreateMany<unknown>>((...parameters) => database.current(...parameters));
  useClock(clock);
  onTestFinished(() => useClock());
  const queue = groupCommit(createMany, options);
  const createPlant = (given: NewPlant, from: StorageContext<unknown>): Told => {
    const told: Told = { outcome: 'pending', after: Number.NaN };
    const start = clock.now();
    const settle = (outcome: unknown) => Object.assign(told, { outcome, after: clock.now() - start });
    queue.create(given, from).then(settle, settle);
    return told;
  };
  const create = (id: number, name?: string, from = context) => createPlant(plant(id, name), from);
  const sentIds = () => createMany.mock.calls.map(([plants]) => idsOf(plants));
  /** A database that takes so many milliseconds for a batch. */
  const answersIn =
    (ms: number): CreateMany<unknown> =>
    async (plants) => {
      await clock.sleep(ms);
      return created(plants);
    };
  return { clock, database, queue, create, createPlant, createMany, sentIds, answersIn };
}
