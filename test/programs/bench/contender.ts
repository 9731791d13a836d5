import type { Server } from 'node:http';

/** Work to repeat in the process itself. */
export interface Work {
  /** How many plants one `run` creates. */
  readonly operations: number;
  readonly run: () => Promise<void>;
  /** Called before each `run`, to make its input outside the measured time. */
  readonly prepare: () => void;
}

/** One side of a pair: a server under load, or work to repeat. Opened in its own process. */
export type Contender = Server | Work;
export type Contenders = Record<string, () => Contender | Promise<Contender>>;

/** What was done in a sample. */
export interface Done {
  readonly operations: number;
  readonly seconds: number;
}

/** Microseconds of CPU time for an operation, and operations a second. */
export interface Sample {
  readonly cost: number;
  readonly rate: number;
}
