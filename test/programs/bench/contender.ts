import type { Server } from 'node:http';

/** Work to repeat in the process itself. */
export interface Work {
  /** How many operations (plants, bytes) one `run` is. */
  readonly operations: number;
  readonly run: () => void | Promise<void>;
  /** Called before each `run`, to make its input outside the measured time. */
  readonly prepare?: () => void;
  /** Microseconds of each operation, where `run` notes them. */
  readonly latencies?: number[];
}

/** A cost that is not repeated time: bytes, or a time that a process has only once. */
export interface Measured {
  readonly measured: number;
}

/** A server that listens by itself. */
export interface Listening {
  readonly port: number;
}

/** One side of a pair: a server under load, work to repeat, or a figure. Opened in its own process. */
export type Contender = Server | Listening | Work | Measured;
export type Contenders = Record<string, (...details: string[]) => Contender | Promise<Contender>>;
