import type { Duel, Figure } from './duel.js';
import type { Row } from './rows.js';

const columns = ['what', 'against', 'floor', 'it', 'times as good', 'by rate', 'must', 'aim', ''];
const widths = [35, 26, 12, 12, 24, 24, 5, 5, 10];

/** The head of the table, which is Markdown and lines up on a terminal. */
export const heading = `${cells(columns)}\n${cells(widths.map((width) => '-'.repeat(width)))}`;

/** A row with its duel, or with the worst of its duels. */
export function line(
  row: Row,
  { target, duel: { floor, target: it, times } }: { target: string; duel: Duel },
): string {
  const { what, against, duels, by = 'cost', unit = 'µs', must, aim } = row;
  const amount = ({ [by]: { median } }: Duel['floor']) => `${short(median)} ${by === 'rate' ? '/s' : unit}`;
  const ratio = times[by].median;
  const verdict = must === undefined ? '' : ratio >= must ? 'reached' : 'short';
  const worst = duels.length > 1 ? target.split(' ')[1] : '';
  return cells([
    what,
    against,
    amount(floor),
    amount(it),
    spread(times[by]),
    by !== 'rate' && times.rate.median > 0 ? spread(times.rate) : '',
    must?.toFixed(2) ?? '',
    aim?.toFixed(2) ?? '',
    [verdict, worst].filter(Boolean).join(': '),
  ]);
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text, i) => text.padEnd(widths[i]!)).join(' | ')} |`;
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });
}

function spread({ median, least, most }: Figure): string {
  return `${short(median)} (${short(least)} to ${short(most)})`;
}
