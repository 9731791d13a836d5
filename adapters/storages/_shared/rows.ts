import { kindOf, OwnError, own, ownWords } from '../../../src/for-storages.js';
import {
  type CreateOutcome,
  type NewPlant,
  RolledBack,
  type StorageContext,
  type Whole,
} from '../../../src/index.js';

/** A value of a column of your own. In a column of integers a `bigint` is exact; a `Date` is sent in UTC. */
export type ColumnValue = string | number | bigint | boolean | Date;

/** Columns of your own by name, and for each a function that returns its value for a create. */
export type Columns<Caller, Value> = {
  readonly [column: string]: (context: StorageContext<Caller>) => Value;
};

export type Value = ColumnValue | null;

/** A value for each column of a table. */
export type Row = readonly Value[];

export type Rows = readonly Row[];

/** The options that say what a row has in addition to its plant. */
export interface RowOptions<Caller> {
  /**
   * The columns that an id is unique within, and a function for the value of each. The table needs a primary key or
   * unique index of exactly these columns and `id`. Default: none, all callers share their ids.
   *
   * Each function is called once a create. A value stands for its text: `7`, `7n` and `'7'` are one namespace, a `Date`
   * is its ISO text. If a function throws or returns an invalid value, such as `null` or a text that ends with a space,
   * that create returns status 500 (50004). TypeScript does not infer `Caller` from `verifyToken`: name it.
   *
   * @example
   * ```ts
   * import pg from 'pg';
   *
   * interface Caller {
   *   readonly tenant: string;
   *   readonly subject: string;
   * }
   *
   * const storage = postgresStorage<Caller>(new pg.Pool(), {
   *   namespace: { tenant: ({ caller }) => caller.tenant },
   *   columns: { created_by: ({ caller }) => caller.subject },
   * });
   * ```
   */
  readonly namespace?: Columns<Caller, Exclude<Value, null>> | undefined;
  /** Further columns to store, and a function for the value of each. Columns that are not named get their defaults. */
  readonly columns?: Columns<Caller, Value> | undefined;
}

/** Each member of a plant, in the order of the columns. */
export const members = Object.keys({
  id: true,
  name: true,
  tag: true,
} satisfies Record<keyof NewPlant, true>) as (keyof NewPlant)[];

/** What the functions of the app's columns returned for one create. */
export interface RowValues {
  readonly space: Row;
  readonly further: Row;
}

/** The context of a create in the queue: its caller is what its row needs. */
export type RowContext = StorageContext<RowValues>;

export type RowMaker<Caller> = ReturnType<typeof rowMaker<Caller>>;

/**
 * Makes rows of plants: the columns of the namespace, those of the plant, further ones of the app.
 *
 * @throws {TypeError} if a column has no function
 */
export function rowMaker<Caller>(options: RowOptions<Caller>) {
  const { namespace, columns } = own(options);
  const spaceOf = columnValues('namespace', namespace);
  const furtherOf = columnValues('columns', columns);
  /** Whether the app has no columns of its own. */
  const isPlain = Object.keys({ ...namespace, ...columns }).length === 0;
  /** The namespace of each create that was called: its functions are called once a create, and a replay is looked for there. */
  const spaces = new WeakMap<StorageContext<Caller>, Row>();
  return {
    isPlain,
    /**
     * Calls the functions of the app's columns.
     *
     * @throws {RolledBack} if one throws or returns an invalid value
     */
    contextOf(context: StorageContext<Caller>): RowContext {
      const values: RowValues = { space: spaceOf(context), further: furtherOf(context) };
      spaces.set(context, values.space);
      return {
        request: context.request,
        caller: values,
        // The signal of a request is made when it is read.
        get signal() {
          return context.signal;
        },
      };
    },
    rowsOf: (plants: readonly NewPlant[], contexts: readonly RowContext[]): Rows =>
      plants.map((plant, i) => {
        const row = members.map((member) => plant[member] ?? null);
        if (isPlain) return row;
        const { space, further } = contexts[i]!.caller;
        return [...space, ...row, ...further];
      }),
    /** The first values of a row: those of the namespace, and the id. */
    keyOf: (id: bigint, context: StorageContext<Caller>): Row => [
      ...(spaces.get(context) ?? spaceOf(context)),
      id,
    ],
  };
}

/** What `groupCommit` compares by `===`. */
export const namespaceOf = ({ caller }: RowContext): string => JSON.stringify(caller.space);

/**
 * Returns what calls the functions of these columns, in their order. A value of the namespace becomes text, so that it
 * means the same in every database.
 */
function columnValues<Caller>(option: 'namespace' | 'columns', given: Columns<Caller, Value> = {}) {
  const functions = Object.entries<Columns<Caller, Value>[string]>(Object(given));
  if (given === null || typeof given !== 'object' || functions.some(([, get]) => typeof get !== 'function')) {
    throw new TypeError(
      `${option} must be columns and their functions, such as { tenant: ({ caller }) => caller.tenant }`,
    );
  }
  const isKey = option === 'namespace';
  // A unique index takes any number of nulls: two plants of one id. Trailing spaces are none to MySQL and in CHAR(n).
  const isAllowed = (value: Value) => isValue(value) && !(isKey && textOf(value)?.endsWith(' ') !== false);
  const more = isKey ? ', and no text that ends with a space' : ', or null';
  const allowed = `a string without U+0000, a finite number, a bigint, a boolean or a valid Date${more}`;
  return (context: StorageContext<Caller>): Row =>
    functions.map(([column, get]) => {
      const must = `the function of the column ${column} must return ${allowed}`;
      const value = callApp(() => get(context), isAllowed, must);
      return isKey ? textOf(value) : value;
    });
}

/**
 * Calls a function of the app.
 *
 * @param must what to say of an invalid value
 * @throws {RolledBack} `apart` if it throws or returns an invalid value
 */
export function callApp<T>(call: () => T, isValid: (value: T) => boolean, must: string, cause?: unknown): T {
  let value: T;
  try {
    value = call();
  } catch (error) {
    throw new RolledBack('rejected', error);
  }
  if (isValid(value)) return value;
  // It may be a promise that rejects, which would crash the process.
  Promise.resolve(value).catch(() => {});
  throw new RolledBack('rejected', ownWords(new TypeError(`${must}, got ${kindOf(value)}`, { cause })));
}

function isValue(value: unknown): boolean {
  // JSON turns NaN into null, and UTF-8 turns a lone surrogate into U+FFFD.
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number' || value instanceof Date) return Number.isFinite(Number(value));
  return value === null || /bigint|boolean/.test(typeof value);
}

/** A value as text, which is exact on every driver, whatever parsers and serializers the app has set. */
export function textOf(value: Value): string | null {
  return value instanceof Date ? value.toISOString() : value === null ? null : String(value);
}

/** The plant in a row. The id is the one that was looked for: drivers round numbers beyond 2^53. */
export function plantOf(id: bigint, row: Record<string, unknown> | undefined): Whole<NewPlant> | undefined {
  return row && { id, name: row.name as string, tag: (row.tag as string | null) ?? undefined };
}

/**
 * What became of each row, by the keys that INSERT returned and by the rows of the batch that are stored. A row that is
 * in neither gets an Error, because a trigger may drop rows silently, and `taken` would be untrue. If the
 * database treats several rows as the same key, the first counts as created.
 *
 * @param created the `key` of each row that was inserted, in the words of the database
 * @param stored the place `n` of each row that is stored, and its `key`
 */
export function outcomesOf(
  rows: Rows,
  created: readonly Record<string, unknown>[],
  stored: readonly Record<string, unknown>[],
): CreateOutcome[] {
  const fresh = new Set(created.map(({ key }) => key));
  const keys = new Map(stored.map(({ n, key }) => [Number(n), key]));
  return rows.map((_, i) => {
    if (keys.has(i)) return fresh.delete(keys.get(i)) ? 'created' : 'taken';
    return new LostRow();
  });
}

/** A plant is not stored after its INSERT. */
export class LostRow extends OwnError {
  constructor(message = "the plant was neither inserted nor found: check the table's triggers and policies") {
    super(message);
  }
}
