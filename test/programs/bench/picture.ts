/** The ratios of the hosts as bars with their spread, and the baseline as a line. */
import { path, rect, svg, text } from '../../support/svg.js';
import type { Result } from './report.js';

const left = 330;
const right = 60;
const scale = 200;
const most = 2.6;
const top = 64;
const barHeight = 11;
const rowHeight = 40;

/** Draws the rows that generators have put load on, without those of the baseline against itself. */
export function picture(results: readonly Result[]): string {
  const rows = new Map<string, Result[]>();
  for (const result of results.filter(({ generator, minimum }) => generator && minimum)) {
    const name = `${result.what} against ${result.against}`;
    rows.set(name, [...(rows.get(name) ?? []), result]);
  }
  const bottom = top + rows.size * rowHeight;
  const width = left + most * scale + right;
  return svg(
    {
      width,
      height: bottom + 34,
      title: 'How many times as good as the baseline',
      description: [...rows].map(([name, pair]) => `${name}: ${pair.map(inWords).join(', ')}.`).join(' '),
    },
    [
      text(16, 26, 'How many times as good as the same by hand, by CPU time a request', 'strong'),
      ...legend(46),
      ...[0.5, 1, 1.5, 2, 2.5].flatMap((value) => [
        path(vertical(value, top, bottom), value === 1 ? 'warn-line' : 'grid'),
        text(x(value), bottom + 18, value === 1 ? '1: the baseline' : String(value), 'small muted', 'middle'),
      ]),
      ...[...rows].flatMap(([name, pair], i) => row(name, pair, top + i * rowHeight)),
    ],
  );
}

function row(name: string, pair: readonly Result[], y: number): string[] {
  const [what = '', against = ''] = name.split(' against ');
  return [
    text(16, y + 16, what, 'strong'),
    text(16, y + 31, `against ${against}`, 'small muted'),
    ...pair.flatMap((result, i) => bar(result, y + 7 + i * (barHeight + 3))),
  ];
}

/** A bar as long as the median, a line from the least to the most, and the median in figures. */
function bar({ generator, times }: Result, y: number): string[] {
  const middle = y + barHeight / 2;
  const ends = [times.least, times.most].map((value) => [x(value), middle] as const);
  return [
    rect(left, y, x(times.median) - left, barHeight, generator === 'own' ? 'accent' : 'faint'),
    path(ends, 'line'),
    text(left - 8, y + 10, times.median.toFixed(2), 'small', 'end'),
  ];
}

function legend(y: number): string[] {
  return [
    rect(16, y - 9, 10, 10, 'accent'),
    text(32, y, 'own clients', 'small muted'),
    rect(116, y - 9, 10, 10, 'faint'),
    text(132, y, 'wrk', 'small muted'),
    path([
      [170, y - 4],
      [196, y - 4],
    ]),
    text(202, y, 'from the least to the most of all samples', 'small muted'),
  ];
}

const vertical = (value: number, from: number, to: number) =>
  [
    [x(value), from],
    [x(value), to],
  ] as const;

/** Where a ratio is, within the picture. */
function x(value: number): number {
  return left + Math.min(value, most) * scale;
}

function inWords({ generator, times }: Result): string {
  return `${times.median.toFixed(2)} by ${generator === 'own' ? 'own clients' : 'wrk'}`;
}
