import type { MaybePromise } from '../http.js';
import { callback, integer } from '../rules.js';
import type { StorageContext } from '../storage.js';
import type { RollbackReason } from './create-many.js';

/**
 * Ends a batch before its text, at 3 bytes a character, fills a statement of 1 MiB: databases refuse longer ones
 * (MySQL's `max_allowed_packet`). A longer plant is sent alone.
 */
export const maxBatchText = 262_144;

/** One batch, after it ended: what a gauge or a span shows of the queue. */
export interface BatchReport {
  /** The plants of the call: a second create of an id within the batch is not sent. */
  readonly plants: number;
  /**
   * How many of them were told an error with this batch. The others are `created` or `taken`, if it is `settled`; or they are sent
   * again, and counted by that batch.
   */
  readonly failed: number;
  /** How long the batch took, in milliseconds. */
  readonly ms: number;
  /**
   * What happened: the database `settled` its creates; it rolled them back, for a reason of `RolledBack`: those that are not rejected
   * are sent again; nothing of it was sent, because the database was `unavailable`; or its outcome is `unknown`.
   */
  readonly end: 'settled' | RollbackReason | 'unavailable' | 'unknown';
  /** The creates that are pending after it, of `maxQueued`. */
  readonly queued: number;
  /** Whether the circuit is open: creates fail fast with `StorageBusy`, apart from one probe at a time. */
  readonly isOpen: boolean;
}

/** What a group commit holds at this moment. */
export interface GroupCommitState {
  /** The creates that are pending, queued or in flight, of `maxQueued`. */
  readonly queued: number;
  /** The characters of their text, of `maxQueuedText`. */
  readonly text: number;
  /** For how long the call in flight has been on its way, in milliseconds; `null` if none is. */
  readonly inFlightSince: number | null;
  /** Whether the circuit is open: creates fail fast with `StorageBusy`, apart from one probe at a time. */
  readonly isOpen: boolean;
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
  /** Called after each batch, for metrics. Errors that it throws are ignored. Default: none. */
  readonly onBatch?: ((batch: BatchReport) => MaybePromise<void>) | undefined;
}

export const groupCommitRules = () => ({
  maxBatch: integer(256, 1),
  maxQueued: integer(10_000, 1),
  maxQueuedText: integer(33_554_432, 1),
  timeoutMs: integer(10_000, 1),
  namespace: callback(() => undefined),
  onBatch: callback(() => {}),
});
