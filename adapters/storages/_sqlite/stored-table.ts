import { systemClock } from '../../../src/for-storages.js';
import { ServerTable } from '../_shared/server-table.js';
import type { TableSpec } from '../_shared/table.js';
import type { Trial } from '../_shared/try-out.js';
import type { SqliteClient } from './client.js';
import type { SqliteTable } from './table.js';

/** How long an app that starts waits for a lock before it tries again, in milliseconds: it doubles, up to the longest. */
const [firstPauseMs, longestPauseMs] = [5, 100];

/** A table of SQLite, whose whole file is locked by whoever writes: an app that starts waits for that, as `groupCommit` does for a create. */
export class SqliteStoredTable extends ServerTable<SqliteClient> {
  readonly blocksEventLoop: boolean;

  constructor(
    spec: TableSpec,
    readonly table: SqliteTable,
    timeoutMs?: number,
  ) {
    super(spec, table, timeoutMs);
    this.blocksEventLoop = table.client.blocks;
  }

  override createTable(): Promise<void> {
    return this.#untilUnlocked(() => super.createTable());
  }

  override check(trial: Trial): Promise<void> {
    return this.#untilUnlocked(() => super.check(trial));
  }

  async #untilUnlocked<T>(task: () => Promise<T>): Promise<T> {
    const end = systemClock.now() + this.timeoutMs;
    for (let ms = firstPauseMs; ; ms = Math.min(2 * ms, longestPauseMs)) {
      try {
        return await task();
      } catch (error) {
        if (!this.table.isLocked(error) || systemClock.now() + ms > end) throw error;
      }
      await new Promise<void>((resolve) => systemClock.setTimer(resolve, ms));
    }
  }
}
