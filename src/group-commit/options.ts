import { integer } from '../options.js';
import type { StorageContext } from '../storage.js';

/**
 * Ends a batch before its text, at 3 bytes a character, fills a statement of 1 MiB: databases refuse longer ones
 * (MySQL's `max_allowed_packet`). A longer plant is sent alone.
 */
export const maxBatchText = 262_144;

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
}

export const groupCommitRules = () => ({
  maxBatch: integer(256, 1),
  maxQueued: integer(10_000, 1),
  maxQueuedText: integer(33_554_432, 1),
  timeoutMs: integer(10_000, 1),
  namespace: [() => undefined, (value: unknown) => typeof value === 'function', 'a function'] as const,
});
