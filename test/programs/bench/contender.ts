import type { Server } from 'node:http';

/** Something to do again and again in the process itself. */
export interface Work {
  /** How many operations (plants, bytes) one `run` is. */
  readonly operations: number;
  readonly run: () => void | Promise<void>;
  /** Called before each `run`, to make what it needs and is not to be timed for. */
  readonly prepare?: () => void;
  /** Microseconds of each operation, where `run` notes them. */
  readonly latencies?: number[];
}

/** Something that costs other than time again and again: bytes, or a time that a process has only once. */
export interface Measured {
  readonly measured: number;
}

/** A server that listens by itself. */
export interface Listening {
  readonly port: number;
}

/** One side of a duel: a server to be asked, work to be done, a figure. Opened in a process of its own. */
export type Contender = Server | Listening | Work | Measured;
export type Contenders = Record<string, (...details: string[]) => Contender | Promise<Contender>>;
