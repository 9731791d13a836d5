import type { CreateOutcome } from '../../../src/index.js';
import type { LearnedTable } from './columns.js';
import { missingIndex, narrowIndex, Rejection, SetupError, unusable, wordsOf } from './rejection.js';
import { LostRow, type Row, type Rows, type Value } from './rows.js';
import type { CheckReport } from './sql-storage.js';
import type { TableSpec } from './table.js';

/** What a database does with the rows of a trial. */
interface Trial {
  /** Inserts rows, and then others, in a transaction that it rolls back. */
  insertAndRollBack(rounds: readonly Rows[]): Promise<CreateOutcome[][]> | CreateOutcome[][];
  /** Whether an error is about the rows: a constraint or a trigger of the app rejects them. */
  isRejection(error: unknown): Promise<boolean> | boolean;
}

/**
 * Asks a database whether creates work, by creates that it rolls back.
 *
 * @throws {Rejection} if they do not: its cause says why. Or whatever the database throws
 */
export async function tryOut(spec: TableSpec, learned: LearnedTable, trial: Trial): Promise<CheckReport> {
  let why: unknown;
  for (const sample of ['edge', 'usual'] as const) {
    const rounds = samplesOf(spec, learned, sample);
    const tried = await outcomesIn(trial, rounds, sample === 'usual' ? spec : undefined);
    if (tried.outcomes) {
      const [, again = []] = tried.outcomes;
      if (!again.every((outcome) => outcome === 'taken')) throw unusable(spec, missingIndex(spec));
      return { notAsked: [] };
    }
    // Each namespace by itself can have its plants.
    const isNarrow =
      rounds.length > 2 && (await isAccepted(trial, rounds[0]!)) && (await isAccepted(trial, rounds[2]!));
    if (isNarrow) throw unusable(spec, narrowIndex(spec));
    why = tried.rejection;
  }
  // As a constraint or a trigger of the app may.
  return { notAsked: [`the database rejects the plants that were tried: ${wordsOf(why)}`] };
}

const isAccepted = async (trial: Trial, rows: Rows) =>
  (await outcomesIn(trial, [rows])).outcomes !== undefined;

interface Tried {
  readonly outcomes?: CreateOutcome[][];
  /** Why the database rejects the rows. */
  readonly rejection?: unknown;
}

/**
 * Returns what becomes of rows.
 *
 * @param spec given if rows that get lost are those that no table should lose
 */
async function outcomesIn(trial: Trial, rounds: readonly Rows[], spec?: TableSpec): Promise<Tried> {
  try {
    const outcomes = await trial.insertAndRollBack(rounds);
    const lost = outcomes.flat().find((outcome) => outcome instanceof Error);
    if (lost) throw new Rejection('rejected', lost);
    return { outcomes };
  } catch (error) {
    const cause: unknown = error instanceof Rejection ? error.cause : undefined;
    if (spec && cause instanceof LostRow) throw unusable(spec, cause.message);
    if (cause instanceof SetupError || !(cause || (await trial.isRejection(error)))) throw error;
    return { rejection: cause ?? error };
  }
}

/**
 * Two plants that `check` creates and rolls back: such as a column may change or reject, and such as it rarely does. Each round has other
 * values beside the ids: an index of the id and the name does not keep ids unique, and names may be unique, too.
 */
const plants = {
  // Not the largest id, from which an AUTO_INCREMENT column would go on, although it is rolled back.
  edge: [
    { id: -(2n ** 63n), names: ['\u{1fab4} ', '\u{1fab4}a ', '\u{1fab4}b '], hasTag: false },
    { id: 1n, names: ['\u{1fab4}', '\u{1fab4}a', '\u{1fab4}b'], hasTag: false },
  ],
  usual: [
    { id: 1n, names: ['a', 'b', 'c'], hasTag: true },
    { id: 2n, names: ['d', 'e', 'f'], hasTag: true },
  ],
} as const;

type Sample = keyof typeof plants;

/**
 * Rows for `check`: those of one namespace, the same ids again, and the same in another namespace if there are any.
 *
 * @param table its columns, by whose types the app's own columns get values
 */
export function samplesOf(spec: TableSpec, { columns }: LearnedTable, sample: Sample): readonly Rows[] {
  const spaces = spec.key.length - 1;
  const typeOf = (place: number) => columns[place]?.base ?? columns[place]?.type ?? 'text';
  const rowsIn = (namespace: 0 | 1, round: 0 | 1 | 2): Rows =>
    plants[sample].map(({ id, names, hasTag }): Row => {
      const space = spec.key.slice(0, spaces).map((_, i) => examplesOf(typeOf(i))[namespace]);
      const plant = [id, names[round], hasTag ? names[round] : null];
      const further = spec.columns.slice(spaces + plant.length);
      return [
        ...space,
        ...plant,
        ...further.map((_, i) => examplesOf(typeOf(spaces + plant.length + i))[round === 1 ? 1 : 0]),
      ];
    });
  return [rowsIn(0, 0), rowsIn(0, 1), ...(spaces > 0 ? [rowsIn(1, 2)] : [])];
}

/** Two values of a type; nulls of a type that is none of these, such as an array. */
function examplesOf(type: string): readonly [Value, Value] {
  if (type.includes('[')) return [null, null];
  if (/int|num|dec|real|doub|float|serial/i.test(type)) return [1n, 2n];
  if (/uuid/i.test(type)) return [uuidOf(0), uuidOf(1)];
  if (/bool/i.test(type)) return [false, true];
  if (/date|time/i.test(type)) return [new Date(0), new Date(864e5)];
  if (/json/i.test(type)) return ['{}', '[]'];
  return /char|text|clob|^$/i.test(type) ? ['a', 'b'] : [null, null];
}

const uuidOf = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
