import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildChild, root } from './build.js';
import { compare, compareInTurns } from './compare.js';
import { rows } from './rows.js';

// The benchmark still runs, and all of its servers still respond alike. No time is checked.
let child = '';
beforeAll(async () => {
  ({ child } = await buildChild());
});
afterAll(() => rmSync(dirname(child), { recursive: true }));

const short = rows('', root).filter(
  ({ pairs, runtime = 'node' }) => runtime === 'node' && /^(hosts|handles|json)/.test(pairs[0]![0]),
);

test.each(short.map(({ what, against, pairs }) => [what, against, pairs[0]!] as const))(
  'the row of %s against %s gives a figure',
  async (_what, _against, [baseline, ours]) => {
    const effort = { processes: 1, samples: 1, sampleMs: 20, warmUpMs: 20 };
    const { times } = await compare({ child, name: baseline }, { child, name: ours }, effort);
    expect(times.cost.median).toBeGreaterThan(0);
    expect(times.rate.median).toBeGreaterThan(0);
  },
);

test('two contenders in one process take turns, and each gives a figure', async () => {
  const effort = { processes: 1, samples: 2, sampleMs: 60, warmUpMs: 20 };
  const insert = 'databases/sqlite-lone-insert';
  const lone = 'databases/sqlite-lone';
  const { times, baseline, ours } = await compareInTurns(
    { child, name: insert },
    { child, name: lone },
    effort,
  );
  for (const { cost, rate, p50 } of [baseline, ours]) expect(Math.min(cost, rate, p50)).toBeGreaterThan(0);
  expect(times.p50.median).toBeCloseTo(baseline.p50 / ours.p50);
});
