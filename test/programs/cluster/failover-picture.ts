// Draws examples/cluster/failover.svg: a failover as the creators of plants see it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problems } from '../../../src/problems.js';
import { path, rect, svg, text } from '../../support/svg.js';
import { configurationFolder } from './configuration.js';
import type { Answer } from './load.js';

/** The figures of the picture, and the configuration that they were measured with. */
export interface Failover {
  readonly title: string;
  /** SHA-256 of the configuration under which it was measured. */
  readonly configuration: string;
  /** How many seconds before the first mark the picture starts. */
  readonly lead: number;
  /** What was done to the cluster, and in which second after the first mark. */
  readonly marks: readonly { readonly second: number; readonly text: string }[];
  /** Answers in each second, by number. */
  readonly answers: Readonly<Record<string, readonly number[]>>;
}

export const failoverFile = join(configurationFolder, 'failover.svg');

/** The responses around the marks (milliseconds since 1970), which come in their order. */
export function failoverOf(
  title: string,
  answers: readonly Answer[],
  marks: readonly { readonly at: number; readonly text: string }[],
): Failover {
  const lead = 4;
  const zero = marks[0]!.at;
  const seconds = Math.ceil((marks.at(-1)!.at - zero) / 1_000) + lead + 6;
  const counts: Record<string, number[]> = {};
  for (const { at, number } of answers) {
    const second = Math.floor((at - zero) / 1_000) + lead;
    if (second < 0 || second >= seconds) continue;
    counts[number] ??= Array(seconds).fill(0);
    counts[number][second]!++;
  }
  return {
    title,
    configuration: configurationDigest(),
    lead,
    marks: marks.map((mark) => ({ second: (mark.at - zero) / 1_000, text: mark.text })),
    answers: counts,
  };
}

/** Changes with every change of the files that the cluster runs with. */
export function configurationDigest(): string {
  const folder = join(configurationFolder, 'postgres');
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}

const left = 190;
const right = 940;
const top = 78;
const laneGap = 26;

export function failoverPicture(failover: Failover): string {
  const { title, lead, marks, answers } = failover;
  const numbers = Object.keys(answers).sort();
  const seconds = answers[numbers[0]!]!.length;
  const width = (right - left) / seconds;
  const x = (second: number) => left + (second + lead) * width;
  const lanes: string[] = [];
  let y = top;
  for (const number of numbers) {
    const height = number === '200' ? 130 : 46;
    lanes.push(...lane(number, answers[number]!, y, height, width));
    y += height + laneGap;
  }
  const bottom = y - laneGap;
  const ticks = Array.from({ length: seconds - lead + 1 }, (_, second) => second).filter(
    (second) => second % 5 === 0,
  );
  const shapes = [
    // Read by the test that draws it again.
    `<metadata>${JSON.stringify(failover).replaceAll('&', '\\u0026').replaceAll('<', '\\u003c')}</metadata>`,
    text(20, 30, title, 'strong'),
    ...ticks.map((second) =>
      path(
        [
          [x(second), top],
          [x(second), bottom + 6],
        ],
        'grid',
      ),
    ),
    ...ticks.map((second) => text(x(second), bottom + 22, `${second} s`, 'muted small', 'middle')),
    ...lanes,
    ...marks.flatMap((mark) => [
      path(
        [
          [x(mark.second), top - 18],
          [x(mark.second), bottom],
        ],
        'warn-line',
      ),
      text(x(mark.second) + 6, top - 10, mark.text, 'small strong'),
    ]),
  ];
  const description = `Answers in each second, by number: ${numbers
    .map((number) => `${number} (${nameOf(number)}) ${sum(answers[number]!)} in all`)
    .join(', ')}. ${marks.map((mark) => `After ${Math.round(mark.second)} s: ${mark.text}.`).join(' ')}`;
  return svg({ width: 960, height: bottom + 36, title, description }, shapes);
}

/** The responses of one code, on their own scale: a few failures would not be seen next to thousands of plants. */
function lane(number: string, counts: readonly number[], y: number, height: number, width: number): string[] {
  const most = Math.max(...counts);
  const className = number === '200' ? 'accent' : number < '50000' ? 'muted' : 'warn';
  return [
    text(20, y + 14, `${number} ${nameOf(number)}`, 'strong small'),
    text(20, y + 30, `at most ${most} a second`, 'muted small'),
    path([
      [left, y + height],
      [right, y + height],
    ]),
    ...counts.flatMap((count, second) => {
      const tall = (count / most) * height;
      return count === 0
        ? []
        : [rect(left + second * width + 1, y + height - tall, width - 2, tall, className)];
    }),
  ];
}

function nameOf(number: string): string {
  if (number === '200') return 'created';
  return Object.entries(problems).find(([, [error]]) => String(error) === number)![0];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
