import type { Attempt } from './checker.js';

/** What was recorded of a run that broke promises: some ids of a cluster, or of a client, that is configured against the page. */
export interface Control {
  readonly control: string;
  readonly attempts: readonly Attempt[];
  /** For each machine, pairs of `id` and `name`. */
  readonly machines: readonly (readonly [string, string][])[];
}
