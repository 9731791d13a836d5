import { ownWords } from '../../../src/for-storages.js';

/** What a storage needs, and what to pass. */
export interface Needed {
  readonly storage: 'postgresStorage' | 'mysqlStorage' | 'sqliteStorage';
  readonly what: string;
  /** What to pass if it cannot be told what came. */
  readonly remedy: string;
}

/** An object of a library that people pass by mistake. */
interface Known {
  readonly name: string;
  /** The methods that tell it from others, by the library's documentation. */
  readonly methods: readonly string[];
  /** What to pass instead to each storage. */
  readonly instead: string | Partial<Record<Needed['storage'], string>>;
}

const page = 'see the recipes at examples/README.md#databases';
const driver = 'pass the pool or the database that it was made of';

/** The first that fits counts. */
const libraries: readonly Known[] = [
  { name: 'a promise', methods: ['then'], instead: 'await it first' },
  {
    name: "TypeORM's EntityManager",
    methods: ['getRepository', 'findOneBy'],
    instead: {
      postgresStorage: 'pass manager.connection.driver.master',
      mysqlStorage: 'pass manager.connection.driver.pool.promise()',
    },
  },
  {
    name: "TypeORM's DataSource",
    methods: ['getRepository', 'createQueryRunner'],
    instead: {
      postgresStorage: 'pass dataSource.driver.master',
      mysqlStorage: 'pass dataSource.driver.pool.promise()',
    },
  },
  { name: 'a Sequelize', methods: ['getQueryInterface', 'authenticate'], instead: page },
  { name: "pg-promise's db", methods: ['oneOrNone', 'task'], instead: { postgresStorage: 'pass db.$pool' } },
  { name: 'a slonik pool', methods: ['maybeOne', 'anyFirst'], instead: page },
  { name: 'a Kysely', methods: ['selectFrom', 'executeQuery'], instead: driver },
  { name: 'a Knex', methods: ['raw', 'batchInsert'], instead: page },
  { name: "Drizzle's db", methods: ['select', 'insert', '$count'], instead: 'pass db.$client' },
  { name: 'a Prisma client', methods: ['$queryRawUnsafe', '$connect'], instead: page },
  { name: "MikroORM's EntityManager", methods: ['persist', 'getUnitOfWork'], instead: page },
  { name: 'a MikroORM', methods: ['isConnected', 'getMetadata'], instead: page },
  { name: 'a mongoose connection', methods: ['openUri', 'model'], instead: page },
  {
    name: "postgres.js's sql",
    methods: ['unsafe', 'begin'],
    instead: 'pass { query: async (text, values = []) => ({ rows: await sql.unsafe(text, values) }) }',
  },
  { name: "the mariadb connector's pool", methods: ['getConnection', 'taskQueueSize'], instead: page },
  {
    name: 'a callback pool of mysql2',
    methods: ['getConnection', 'promise'],
    instead: 'pass pool.promise()',
  },
  { name: '@libsql/client', methods: ['execute', 'executeMultiple'], instead: page },
  { name: 'the callback database of sqlite3', methods: ['serialize', 'parallelize'], instead: page },
  { name: "D1's binding, or another asynchronous SQLite", methods: ['prepare', 'batch'], instead: page },
];

/**
 * Throws if a storage was given what it cannot use, as far as the object shows it.
 *
 * @param isUsable whether it has the methods that the storage calls
 * @throws {TypeError} that names what came and what to pass
 */
export function checkHandle(handle: unknown, isUsable: boolean, needed: Needed): void {
  const known = libraries.find(({ methods }) => methods.every((method) => isMethod(handle, method)));
  if (isUsable && !known) return;
  const { storage, what, remedy } = needed;
  const instead = typeof known?.instead === 'string' ? known.instead : known?.instead[storage];
  throw new TypeError(
    `${storage} needs ${what}, got ${known?.name ?? kindOf(handle)}: ${instead ?? (known ? driver : remedy)}`,
  );
}

/** Returns why a handle cannot be used that only its first error, or its first result, has shown to be another one. */
export function failedHandle(handle: unknown, error: unknown, { storage, what }: Needed): string {
  const how = error instanceof WrongResult ? `: ${error.message}` : '';
  return `${storage} needs ${what}, got ${kindOf(handle)}, which failed${how}. See adapters/storages/README.md`;
}

/** A handle gave another result than its documentation says: it is another one. */
export class WrongResult extends TypeError {
  constructor(method: string, expected: string, got: unknown) {
    super(`${method} must return ${expected}, got ${kindOf(got)}`);
    ownWords(this);
    // It may be a promise that rejects, which would end the process.
    if (isMethod(got, 'then')) (got as PromiseLike<unknown>).then(undefined, () => {});
  }
}

function isMethod(handle: unknown, method: string): boolean {
  return typeof (Object(handle) as Record<string, unknown>)[method] === 'function';
}

/** Says what a value is: by its class, if it has one. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  if (isMethod(value, 'then')) return 'a promise';
  if (value instanceof URL) return 'a URL';
  const { name } = Object(value).constructor ?? {};
  return !name || name === 'Object' ? 'an object' : `an object of the class ${name}`;
}
