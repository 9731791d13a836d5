import type { Answer } from './load.js';

/** The effect of a fault on the creators of plants. */
export interface Figures {
  /** The longest time without a 200, in seconds. */
  readonly gap: number;
  /** How many responses of each code: 200, and those of the errors. */
  readonly numbers: Readonly<Record<number, number>>;
  /** The time of the median, of the 99th percentile and of the slowest response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A line of the table. */
export interface Row extends Figures {
  readonly what: string;
  readonly violations: number;
}

/** What the creators saw, from the first 200 to the last. */
export function figuresOf(answers: readonly Answer[]): Figures {
  const took = answers.map((answer) => answer.took).sort((a, b) => a - b);
  const quantile = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0;
  return {
    gap: longestGap(answers),
    numbers: count(answers),
    p50: quantile(0.5),
    p99: quantile(0.99),
    max: quantile(1),
  };
}

function longestGap(answers: readonly Answer[]): number {
  const times = answers.filter(({ number }) => number === 200).map(({ at }) => at);
  times.sort((a, b) => a - b);
  return times.reduce((longest, at, i) => Math.max(longest, at - (times[i - 1] ?? at)), 0) / 1_000;
}

function count(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { number } of answers) counts[number] = (counts[number] ?? 0) + 1;
  return counts;
}

/** A table as it is printed, one line a fault. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['fault', 'longest without a 200', 'answers by number', 'p50', 'p99', 'max', 'violations'];
  const lines = rows.map(({ what, gap, numbers, p50, p99, max, violations }) => [
    what,
    `${gap.toFixed(1)} s`,
    Object.entries(numbers)
      .map(([number, times]) => `${times} × ${number}`)
      .join(', '),
    ...[p50, p99, max].map((ms) => (ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`)),
    String(violations),
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
