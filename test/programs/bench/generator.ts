/** Who puts load on a server: `own` is `Clients`, `wrk` is Debian's program. */
export type GeneratorName = 'own' | 'wrk';

/** What was done in a sample. */
export interface Done {
  readonly operations: number;
  readonly seconds: number;
  /** Microseconds; of each operation, or their median alone. */
  readonly latencies: readonly number[];
}

export interface Generator {
  /** Keeps 64 connections busy for a while. */
  run(ms: number): Promise<Done>;
  close(): void;
}
