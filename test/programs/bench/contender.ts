import type { Server } from 'node:http';

/** One side of a pair: a server under load. Opened in its own process. */
export type Contenders = Record<string, () => Server | Promise<Server>>;

/** What a server did in a sample. */
export interface Sample {
  /** Microseconds of CPU time of its process for a request. */
  readonly cost: number;
  /** Requests a second. */
  readonly rate: number;
}
