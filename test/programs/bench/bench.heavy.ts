import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildChild, root } from './build.js';
import { duel } from './duel.js';
import { rows } from './rows.js';

// That the benchmark still runs, and that all of its servers still answer alike: of times nothing is asked.
let child = '';
beforeAll(async () => {
  ({ child } = await buildChild());
});
afterAll(() => rmSync(dirname(child), { recursive: true }));

const short = rows('', root).filter(
  ({ duels, runtime = 'node' }) => runtime === 'node' && /^(hosts|handles|json)/.test(duels[0]![0]),
);

test.each(short.map(({ what, against, duels }) => ({ what, against, duel: duels[0]! })))(
  '$what against $against comes to a figure',
  async ({ duel: [floor, target] }) => {
    const effort = { bouts: 1, pairs: 1, sampleMs: 20, warmUpMs: 20 };
    const { times } = await duel({ child, name: floor }, { child, name: target }, effort);
    expect(times.cost.median).toBeGreaterThan(0);
    expect(times.rate.median).toBeGreaterThan(0);
  },
);
