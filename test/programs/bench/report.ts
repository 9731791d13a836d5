/** Results as text: lines of a Markdown table that also line up on a terminal. */
import type { By, Figure } from './figures.js';

/** The result of a row; kept in figures.json. */
export interface Result {
  readonly what: string;
  readonly against: string;
  /** The load generator: `own` or `wrk`; empty for rows that run in process. */
  readonly generator: string;
  readonly by: By;
  readonly unit: string;
  /** The medians of both sides. */
  readonly baseline: number;
  readonly ours: number;
  /** How many times as good, or how many µs more. */
  readonly times: Figure;
  /** The ratio of the rates, if another measure decides. */
  readonly rate?: Figure | undefined;
  readonly minimum?: number | undefined;
  readonly target?: number | undefined;
  /** Which body it was, if the row shows the worst of several. */
  readonly worst?: string | undefined;
  /** The machine's load average when it ended. This benchmark alone makes at most 2. */
  readonly load: number;
}

const columns = [
  'what',
  'against',
  'load by',
  'baseline',
  'plant-store',
  'ratio',
  'by rate',
  'minimum',
  'target',
  '',
];
const widths = [32, 24, 7, 12, 12, 24, 24, 7, 6, 10];

export const heading = `${cells(columns)}\n${cells(widths.map((width) => '-'.repeat(width)))}`;

export function line(result: Result): string {
  const { what, against, generator, by, unit, baseline, ours, times, rate, minimum, target, worst, load } =
    result;
  const amount = (value: number) => `${brief(value)} ${by === 'rate' ? '/s' : unit}`;
  const bar = (value?: number) => {
    if (value === undefined) return '';
    return by === 'added' ? `+${value}` : value.toFixed(2);
  };
  const remarks = [verdict(result), worst, load > busy ? 'busy' : ''];
  return cells([
    what,
    against,
    generator,
    amount(baseline),
    amount(ours),
    spread(times, by === 'added' ? '+' : ''),
    rate ? spread(rate) : '',
    bar(minimum),
    bar(target),
    remarks.filter(Boolean).join(': '),
  ]);
}

/** Above this load average, others took the machine's time as well. */
const busy = 2.5;

export function verdict({ by, times: { median }, minimum }: Result): string {
  if (minimum === undefined) return '';
  const isReached = by === 'added' ? median <= minimum : median >= minimum;
  return isReached ? 'reached' : '**missed**';
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text, i) => text.padEnd(widths[i]!)).join(' | ')} |`;
}

function brief(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });
}

function spread({ median, least, most }: Figure, sign = ''): string {
  return `${sign}${brief(median)} (${brief(least)} to ${brief(most)})`;
}
