import { boolean, callback, integer } from '../checks/rules.js';
import type { MaybePromise } from '../http.js';
import type { StorageContext, StorageStatus } from '../storage.js';
import type { RollbackReason } from './create-many.js';

/**
 * Ends a batch before its text, at 3 bytes a character, fills a statement of 1 MiB: databases refuse longer ones
 * (MySQL's `max_allowed_packet`, https://dev.mysql.com/doc/refman/8.4/en/packet-too-large.html). A longer plant is sent alone.
 */
export const maxBatchText = 262_144;

/** One batch, after it ended: what a gauge or a span shows of the queue. */
export interface BatchReport {
  /** The plants of the call: a second create of an id within the batch is not sent. */
  readonly plants: number;
  /**
   * How many of them failed with this batch. If it is `settled`, the others are `created` or `taken`; otherwise they are retried, and a
   * later batch counts them.
   */
  readonly failed: number;
  /** How long the batch took, in milliseconds. */
  readonly ms: number;
  /**
   * What happened. The database `settled` the creates, or rolled them back for a reason of `RolledBack`; after `conflict` and `locked`
   * they are retried. If it was `unavailable`, nothing was sent. Otherwise the outcome is `unknown`.
   */
  readonly end: 'settled' | RollbackReason | 'unavailable' | 'unknown';
  /** How many creates are pending after it, at most `maxQueued`. */
  readonly queued: number;
  /** Whether the circuit is open: creates fail fast with `StorageBusy`, apart from one probe at a time. */
  readonly isOpen: boolean;
}

/** What a group commit holds at this moment. */
export interface GroupCommitState {
  /** How many creates are pending, queued or in flight: at most `maxQueued`. */
  readonly queued: number;
  /** How many characters of text they have: at most `maxQueuedText`. */
  readonly queuedText: number;
  /** How long the call in flight has taken so far, in milliseconds; `null` if there is none. */
  readonly inFlightMs: number | null;
  /** Whether the circuit is open: creates fail fast with `StorageBusy`, apart from one probe at a time. */
  readonly isOpen: boolean;
  /**
   * How many creates have failed since the last one was created or taken. Rejected plants do not count, nor do creates that found the
   * queue full, nor one with the id of the last failure, because its client may retry it at a locked row.
   */
  readonly failedInRow: number;
  /**
   * For how long no plant has been stored since an attempt failed, in milliseconds; `null` if none has failed since. If two creates have
   * failed in a row, it is an outage, at any rate of creates.
   */
  readonly failingMs: number | null;
  /**
   * How many plants the database has rejected since one was created or taken. A few may come from one client; many mean a rule of the
   * table that no plant satisfies.
   */
  readonly rejectedInRow: number;
  /** For how long no plant has been stored since the first of these, in milliseconds; `null` if there is none. */
  readonly rejectingMs: number | null;
}

/** The options of `groupCommit`. */
export interface GroupCommitOptions<Caller = unknown> {
  /** Maximum plants in one batch; a batch also ends after 256 Ki characters of text. Default: 256. */
  readonly maxBatch?: number | undefined;
  /** Maximum pending creates, queued or in flight; more fail with `StorageBusy`. Default: 10 000. */
  readonly maxQueued?: number | undefined;
  /** Maximum characters of text that these creates have together. Default: 33 554 432. */
  readonly maxQueuedText?: number | undefined;
  /** How long a create may take, from its call until it settles, in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
  /** What an id is unique within, compared by `===`: `({ caller }) => caller.tenant`, say. Default: one namespace for all. */
  readonly namespace?: ((context: StorageContext<Caller>) => unknown) | undefined;
  /**
   * Whether `createMany` blocks the event loop until its plants are stored, as `better-sqlite3` and `node:sqlite` do: all creates of one
   * iteration of the event loop then share a batch. Otherwise a batch is sent at once. Default: false.
   */
  readonly blocksEventLoop?: boolean | undefined;
  /**
   * Called once when an attempt to store plants has failed and none is stored for 1.5 s after it, and once when one is stored again. Errors
   * that it throws are ignored. Default: `createPlantStore` writes a line, unless you pass it an `onError`.
   */
  readonly onStatus?: ((status: StorageStatus) => MaybePromise<void>) | undefined;
  /** Called after each batch, for metrics. Errors that it throws are ignored. Default: none. */
  readonly onBatch?: ((batch: BatchReport) => MaybePromise<void>) | undefined;
}

/** Stands for no `onStatus`. */
export const unwatched = () => {};

export const groupCommitRules = () => ({
  maxBatch: integer(256, 1),
  maxQueued: integer(10_000, 1),
  maxQueuedText: integer(33_554_432, 1),
  timeoutMs: integer(10_000, 1),
  namespace: callback(() => undefined),
  blocksEventLoop: boolean(false),
  onStatus: callback<NonNullable<GroupCommitOptions['onStatus']>>(unwatched),
  onBatch: callback(() => {}),
});
