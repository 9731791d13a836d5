import { OwnError } from '../../../src/for-storages.js';
import { WrongResult } from '../_shared/wrong-handle.js';
import type { Answers, Step } from './codes.js';

/** A row. */
export type FoundRow = Readonly<Record<string, unknown>>;

/** A statement and its parameters, which are text: each library binds that in the same way. */
export interface Statement {
  readonly sql: string;
  readonly args: readonly (string | null)[];
  /** Whether it has no rows: a driver that `blocks` then counts, and returns a row if it has changed one. */
  readonly hasNoRows?: boolean;
  /** Whether it is needed after the rows of those before it. Where all travel in one message, it is sent in any case. */
  isNeeded?(found: readonly FoundRow[][]): boolean;
}

/** One handle on SQLite: what this storage asks of it. */
export interface SqliteClient extends Answers {
  /**
   * Runs statements in a transaction of their own, and returns the rows of each. What only reads may run without.
   *
   * @throws {Failed} with the handle's error
   */
  commit(statements: readonly Statement[]): Promise<FoundRow[][]>;
  /**
   * Runs statements in a transaction that it rolls back.
   *
   * @throws {Failed} with the error of the first one that fails
   */
  tryOut(statements: readonly Statement[]): Promise<void>;
  /** Whether it blocks the event loop while it works. */
  readonly blocks: boolean;
  /** Whether it is a connection of the app that counts what a statement has changed. */
  readonly counts: boolean;
  /** Of a client that opens its file itself: how long its connections wait for a lock, in milliseconds. */
  lockTimeout?(): Promise<number>;
}

/** A transaction failed, with its cause: an error of the handle. */
export class Failed extends OwnError {
  constructor(
    readonly step: Step,
    cause: unknown,
  ) {
    super(`a transaction failed: ${step}`, { cause });
  }
}

/** Libraries say so by one of these. */
export function isClosed(handle: object): boolean {
  const { open, isOpen, closed } = handle as { open?: unknown; isOpen?: unknown; closed?: unknown };
  return open === false || isOpen === false || closed === true;
}

export function checkedRows(rows: unknown): FoundRow[] {
  if (!Array.isArray(rows)) throw new WrongResult('a query', 'rows', rows);
  return rows;
}
