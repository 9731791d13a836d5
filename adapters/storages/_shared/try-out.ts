import type { CreateOutcome, NewPlant, Plant } from '../../../src/index.js';
import { Rejection, unusable, wordsOf } from './rejection.js';
import { LostRow, type Row } from './rows.js';
import type { TableSpec } from './table.js';

/** A plant that `check` creates and rolls back. Without an id, it gets one that is free. */
export type SamplePlant = Plant & { readonly id?: bigint | undefined };

/** What `check` tries, and the rows of it. */
export interface Trial {
  /** The app's plant; by default, plants are invented. */
  readonly plant: SamplePlant | undefined;
  readonly rowOf: (plant: NewPlant) => Row;
}

/** How a trial asks the database. */
interface Asked {
  isStored(row: Row): Promise<boolean>;
  /** @throws {Rejection} if the database rejects the row */
  createAndRollBack(row: Row): Promise<CreateOutcome>;
}

/** Names and tags such as a column or a rule of the app may reject, and then such as few do. */
const samples = ['\u{1fab4} ', 'Check'];

/** What is tried; of each, one plant must be created. */
const invented: readonly (readonly [what: string, plants: readonly SamplePlant[], remedy: string])[] = [
  [
    'the plants that check() invents',
    samples.map((text) => ({ name: text, tag: text }) satisfies Required<Plant>),
    "If a rule of yours does, pass a plant that it accepts: check({ plant: { name: 'Rosa', tag: 'rose' } })",
  ],
  [
    'a plant without a tag',
    samples.map((name) => ({ name })),
    "If its column of tags is NOT NULL, let it take null: a plant without a tag and one with an empty tag are two plants. If each of yours has a tag, pass one: check({ plant: { name: 'Rosa', tag: 'rose' } })",
  ],
];

/**
 * Asks a database whether creates work, by creates that it rolls back.
 *
 * @throws {Rejection} if they do not: its cause says why. Or whatever the database throws
 */
export async function tryOut(spec: TableSpec, { plant, rowOf }: Trial, asked: Asked): Promise<void> {
  const ids =
    plant?.id === undefined ? await freeIds((id) => asked.isStored(rowOf({ id, name: '' }))) : [plant.id];
  const create = async (sample: SamplePlant, id: bigint): Promise<CreateOutcome> => {
    const outcome = await asked.createAndRollBack(rowOf({ ...sample, id }));
    // A policy hides rows that are stored: those of other tenants.
    const isHidden = outcome === 'taken' && plant?.id === undefined && id < 2n ** 62n;
    return isHidden ? create(sample, 2n * id) : outcome;
  };
  const tried = plant ? [['the plant of check()', [plant], 'Pass one that it accepts'] as const] : invented;
  for (const [what, plants, remedy] of tried) {
    const creates = plants.flatMap((sample) => ids.map((id) => () => create(sample, id)));
    const why = await whyNone(creates);
    if (why instanceof LostRow) throw unusable(spec, why.message);
    if (why) throw unusable(spec, `the database rejects ${what}: ${wordsOf(why)}. ${remedy}`, why);
  }
}

/** Returns why none of these creates works; `undefined` if one does. */
async function whyNone(creates: readonly (() => Promise<CreateOutcome>)[]): Promise<unknown> {
  let why: unknown;
  for (const create of creates) {
    try {
      if ((await create()) === 'created') return undefined;
      why ??= new Error('its id is taken');
    } catch (error) {
      if (!(error instanceof Rejection) || error.reason === 'unusable') throw error;
      why ??= error.cause;
    }
  }
  return why;
}

/**
 * Returns ids that are free. The first follows one that is stored, because an AUTO_INCREMENT column goes on from the largest id that it was
 * ever given. Where clients count, theirs may take that meanwhile: the second is farther away.
 */
async function freeIds(isStored: (id: bigint) => Promise<boolean>): Promise<readonly bigint[]> {
  let [stored, free] = [0n, 1n];
  while (await isStored(free)) [stored, free] = [free, 2n * free];
  const far = free;
  while (free - stored > 1n) {
    const middle = (stored + free) / 2n;
    if (await isStored(middle)) stored = middle;
    else free = middle;
  }
  return free === far ? [free] : [free, far];
}
