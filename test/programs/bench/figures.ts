/**
 * The measure of a contender: `cost`, in microseconds of its process's CPU time for an operation or in what else is
 * measured; `rate`, operations a second; `p50`, the median time that an operation takes, in microseconds; `added`, how
 * much longer that is on the side that is tested.
 */
export type By = 'cost' | 'rate' | 'p50' | 'added';
export type Sample = Readonly<Record<'cost' | 'rate' | 'p50', number>>;

/** A median, with the least and the most. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function figure(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}
