import { systemClock } from '../../src/clock.js';
import { groupCommitDefaults } from '../../src/group-commit.js';
import {
  type BatchCall,
  type CreateOutcome,
  type GroupCommitOptions,
  type NewPlant,
  type PlantStorage,
  RolledBack,
  StorageBusy,
} from '../../src/index.js';

/** The options of the SQL storages. Their tables are one namespace. */
export interface SqlOptions extends Omit<GroupCommitOptions, 'namespace'> {
  /** The table's name; it is quoted. Default: `plants`. */
  readonly table?: string | undefined;
}

/** The name of the table, the time of a statement, and what is for `groupCommit`. */
export function splitOptions({ table = 'plants', ...groupOptions }: SqlOptions) {
  if ('namespace' in groupOptions) {
    throw new TypeError('namespace is no option here, because the table has one id column for all callers');
  }
  return { table, timeoutMs: groupOptions.timeoutMs ?? groupCommitDefaults.timeoutMs, groupOptions };
}

/** A storage that can read its plants and make its table. */
export interface SqlStorage extends PlantStorage {
  /** Makes the table unless there is one. Safe while other instances do the same, and can be called again. */
  readonly createTable: () => Promise<void>;
  readonly find: NonNullable<PlantStorage['find']>;
}

/**
 * What an error says of the plants that were sent. `transient`: nothing was stored, and sending again may help.
 * `permanent`: nothing was stored, and sending again cannot help. `plantAtFault`: nothing was stored, maybe because of
 * a plant of the batch. `unknown`: the plants may or may not be stored.
 */
export type Meaning = 'transient' | 'permanent' | 'plantAtFault' | 'unknown';

/** The error to throw at `groupCommit`, which sends again what was surely rolled back. */
export function classified(error: unknown, meaning: Meaning): unknown {
  if (meaning === 'transient') return new RolledBack('together', error);
  if (meaning === 'plantAtFault') return new RolledBack('apart', error);
  if (meaning === 'permanent') return new StorageBusy('the storage is out of reach', { cause: error });
  return error;
}

/** A pool as both drivers' storages use it. */
export interface Connections<Connection> {
  connect(): Promise<Connection> | Connection;
  /** Gives a connection back, or throws it away if after `error` it may hold half an answer. */
  release(connection: Connection, error?: unknown): void;
  /** What an error of `connect`, after which nothing was sent, or of a statement means. */
  meaningOf(error: unknown, isConnecting: boolean): Meaning;
}

/**
 * Runs `work` on a connection for as long as somebody waits for the call: a frozen server would keep the connection for
 * ever. Rejects with what `classified` makes of an error.
 */
export async function onConnection<Connection, T>(
  { connect, release, meaningOf }: Connections<Connection>,
  call: BatchCall,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  call.sent = false;
  let connection: Connection;
  try {
    connection = await connect();
  } catch (error) {
    throw classified(error, meaningOf(error, true));
  }
  if (call.isGivenUp) {
    release(connection);
    throw new Error('there was no connection in time');
  }
  call.sent = true;
  return new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      call.onGiveUp = undefined;
      release(connection, error);
      if (error) reject(classified(error, meaningOf(error, false)));
    };
    call.onGiveUp = () => end(new Error('the database did not answer in time'));
    work(connection).then(
      (result) => {
        if (call.isGivenUp) return;
        end();
        resolve(result);
      },
      (error) => call.isGivenUp || end(error ?? new Error('the driver failed without an error')),
    );
  });
}

/** Runs `work`, which ends with `onConnection`, within `timeoutMs`. Rejects with the database's own error. */
export function within<T>(timeoutMs: number, work: (call: BatchCall) => Promise<T>): Promise<T> {
  const call: { -readonly [Name in keyof BatchCall]: BatchCall[Name] } = { sent: true, isGivenUp: false };
  return new Promise((resolve, reject) => {
    const timer = systemClock.setTimer(() => {
      call.isGivenUp = true;
      call.onGiveUp?.();
      reject(new Error(`the database did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
    work(call).then(
      (result) => {
        systemClock.clearTimer(timer);
        resolve(result);
      },
      (error) => {
        systemClock.clearTimer(timer);
        reject(error instanceof RolledBack || error instanceof StorageBusy ? error.cause : error);
      },
    );
  });
}

/**
 * What became of each plant, if INSERT returned the ids of the created ones. A plant that is neither created nor stored
 * gets an Error: a trigger may drop rows silently, and `taken` would be untrue.
 */
export function outcomesOf(
  plants: readonly NewPlant[],
  created: ReadonlySet<unknown>,
  stored: ReadonlySet<unknown>,
): CreateOutcome[] {
  if (created.size === plants.length) return plants.map(() => 'created');
  return plants.map(({ id }) => {
    if (created.has(String(id))) return 'created';
    if (stored.has(String(id))) return 'taken';
    return new Error(
      `the table neither took the plant ${id} nor shows one with its id: look at its triggers`,
    );
  });
}

/**
 * Quotes the name of a table.
 *
 * @param mark the quotation mark of the database
 * @param container what may stand before the name, with a dot between; without it a dot is part of the name
 * @param maxBytes the longest name, in bytes of UTF-8
 * @throws {TypeError} if it is no such name
 */
export function quote(
  name: unknown,
  mark: string,
  container?: string,
  maxBytes = Number.POSITIVE_INFINITY,
): string {
  const parts = typeof name !== 'string' ? [] : container ? name.split('.') : [name];
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    const orBoth = container ? `, or a ${container} and a name with a dot between` : '';
    throw new TypeError(`table must be a name${orBoth}`);
  }
  if (parts.some((part) => new TextEncoder().encode(part).length > maxBytes)) {
    throw new TypeError(
      `table must be a name of at most ${maxBytes} bytes, because the database cuts longer ones`,
    );
  }
  return parts.map((part) => mark + part.replaceAll(mark, mark + mark) + mark).join('.');
}
