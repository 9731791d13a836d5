/**
 * `npm run bench [-- words]`: the table of README.md here, in Markdown. Words pick the rows that have them.
 * `--quick`: a minute, too short to be kept. `--before=<checkout>`: our contenders against those of another checkout.
 */
import { rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { PostgresServer } from '../../support/postgres.js';
import { Progress } from '../../support/progress.js';
import { buildChild, root } from './build.js';
import { type Comparison, compare, compareInTurns, type Effort } from './compare.js';
import type { GeneratorName } from './generator.js';
import { keep } from './kept.js';
import { heading, line, type Result } from './report.js';
import { isServed, type Row, rows } from './rows.js';
import { installRuntimes } from './runtimes.js';
import { wrkMissing } from './wrk.js';

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const quick = process.argv.includes('--quick');
const before = process.argv.find((word) => word.startsWith('--before='))?.slice('--before='.length);
const effort: Effort = quick
  ? { processes: 1, samples: 5, sampleMs: 80, warmUpMs: 300 }
  : { processes: 3, samples: 5, sampleMs: 500, warmUpMs: 1500 };

const now = await buildChild();
const then = before ? await buildChild(resolve(before)) : undefined;
const picked = rows(now.core, root)
  .filter(({ long, setUp }) => !(quick && (long || setUp)))
  .filter(
    (row, i, all) => !before || (isOfSources(row) && all.findIndex((other) => isSame(other, row)) === i),
  )
  .filter(({ what, against }) => words.every((word) => `${what} ${against}`.includes(word)));

const noWrk = wrkMissing(cpus().length);
if (noWrk) console.error(`No rows of wrk, because ${noWrk}.`);
if (picked.some(({ runtime }) => runtime)) installRuntimes();
const servers: PostgresServer[] = [];
for (const [variable, settings] of [
  ['BENCH_POSTGRES', {}],
  ['BENCH_POSTGRES_UNSAFE', { fsync: 'off' }],
] as const) {
  if (!picked.some((row) => row.server === variable)) continue;
  const server = await PostgresServer.start(settings);
  servers.push(server);
  process.env[variable] = server.url;
}
if (!process.env.BENCH_MYSQL && picked.some(({ server }) => server === 'BENCH_MYSQL'))
  console.error('No row of MariaDB, because BENCH_MYSQL does not name a server: mysql://…');

const runnable = picked.filter(({ server }) => !server || process.env[server]);
const tasks = runnable.flatMap((row) => generatorsOf(row).map((generator) => ({ row, generator })));
const progress = new Progress(
  tasks.reduce((sum, { row, generator }) => sum + seconds(row, generator), 0),
  1,
);
const results: Result[] = [];
try {
  console.log(heading);
  for (const { row, generator } of tasks) {
    progress.show(`${row.what} against ${row.against}`);
    const result = await resultOf(row, generator);
    progress.advance(seconds(row, generator));
    console.log(line(result));
    results.push(result);
  }
} finally {
  progress.clear();
  for (const server of servers) await server.close();
  for (const built of [now, then]) if (built) rmSync(dirname(built.child), { recursive: true });
}
if (!quick && !before) keep(results);

/** Whether a row's contender is made of the library's sources, and can be put against itself of another checkout. */
function isOfSources({ pairs }: Row): boolean {
  return pairs.some(
    ([baseline, ours]) => baseline !== ours && /^(hosts|fetch|handles|json|databases)/.test(ours),
  );
}

/** Whether two rows differ in nothing but what they are compared with. */
function isSame(a: Row, b: Row): boolean {
  const ours = ({ pairs, runtime, by }: Row) => JSON.stringify([pairs.map(([, name]) => name), runtime, by]);
  return ours(a) === ours(b);
}

function generatorsOf(row: Row): (GeneratorName | undefined)[] {
  if (!isServed(row)) return [undefined];
  // wrk knows whole seconds, and windows are shorter.
  return noWrk || row.inTurns ? ['own'] : ['own', 'wrk'];
}

/** If there are many pairs, each is short; and what takes minutes to set up is set up once. */
function effortOf({ pairs, setUp }: Row, generator: GeneratorName | undefined): Effort {
  const { samples, sampleMs, warmUpMs } = effort;
  // wrk knows whole seconds.
  if (generator === 'wrk') return { ...effort, samples: quick ? 1 : 3, sampleMs: 1000, warmUpMs: 1000 };
  if (pairs.length > 1) return { processes: 1, samples, sampleMs: sampleMs / 8, warmUpMs: warmUpMs / 5 };
  return setUp ? { ...effort, processes: 1, samples: 15 } : effort;
}

/** The seconds that a row takes, about. */
function seconds(row: Row, generator: GeneratorName | undefined): number {
  const { processes, samples, sampleMs, warmUpMs } = effortOf(row, generator);
  return (
    (row.pairs.length * processes * 2 * (warmUpMs + samples * sampleMs + 300)) / 1000 + (row.setUp ? 60 : 0)
  );
}

async function resultOf(row: Row, generator: GeneratorName | undefined): Promise<Result> {
  const { what, against, pairs, runtime, by = 'cost', unit = 'µs', minimum, target } = row;
  const compared: { name: string; comparison: Comparison }[] = [];
  for (const [baseline, ours] of pairs) {
    const side = { child: now.child, runtime, generator };
    const other = then ? { ...side, child: then.child, name: ours } : { ...side, name: baseline };
    // Another checkout cannot share the process.
    const comparing = row.inTurns && !then ? compareInTurns : compare;
    const comparison = await comparing(other, { ...side, name: ours }, effortOf(row, generator));
    compared.push({ name: ours, comparison });
  }
  const isBetter = (a: Comparison, b: Comparison) =>
    a.times[by].median > b.times[by].median !== (by === 'added');
  const worst = compared.reduce((a, b) => (isBetter(a.comparison, b.comparison) ? b : a));
  const { baseline, ours, times } = worst.comparison;
  const column = by === 'added' ? 'p50' : by;
  return {
    what,
    against: then ? 'itself before' : against,
    generator: generator ?? '',
    by,
    unit,
    baseline: baseline[column],
    ours: ours[column],
    times: times[by],
    rate: by === 'rate' || Number.isNaN(times.rate.median) ? undefined : times.rate,
    minimum: then ? undefined : minimum,
    target: then ? undefined : target,
    worst: pairs.length > 1 ? worst.name.split(' ')[1] : undefined,
    load: loadavg()[0]!,
  };
}
