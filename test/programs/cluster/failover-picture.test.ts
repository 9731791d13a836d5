import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  configurationDigest,
  type Failover,
  failoverFile,
  failoverOf,
  failoverPicture,
} from './failover-picture.js';

const drawn = readFileSync(failoverFile, 'utf8');
const failover: Failover = JSON.parse(/<metadata>(.*)<\/metadata>/.exec(drawn)![1]!);

it('failover.svg is what its program draws of its figures today (npm run test:cluster measures and draws it anew)', () => {
  expect(drawn).toBe(failoverPicture(failover));
});

it('failover.svg was measured with the configuration next to it (npm run test:cluster measures it anew)', () => {
  expect(failover.configuration).toBe(configurationDigest());
});

it('the picture counts each response in its second, from before the first mark to after the last', () => {
  const answer = (number: number, at: number) =>
    ({ id: '1', name: 'a', outcome: 'created', took: 1, number, at }) as const;
  const { answers, marks, lead } = failoverOf(
    'a failover',
    [
      answer(200, 95_000),
      answer(200, 99_999),
      answer(200, 100_000),
      answer(50301, 103_500),
      answer(200, 199_000),
    ],
    [
      { at: 100_000, text: 'killed' },
      { at: 102_000, text: 'back' },
    ],
  );
  expect(marks.map(({ second }) => second)).toEqual([0, 2]);
  expect(answers['200']).toEqual([0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
  expect(answers['50301']?.[lead + 3]).toBe(1);
});
