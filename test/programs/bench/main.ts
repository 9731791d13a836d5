/**
 * `npm run bench [-- words]`: the rows that a user asks for, in Markdown. Words pick the rows that have them. `--quick`: a
 * minute, to see that it runs. `--waterfall`: the steps from the operation by hand to `toNode`, in place of the rows. `--json=<file>`: writes `Results` there, next to the rows of the same commit that it has.
 * `--chart=<file>`: draws them. `--before=<checkout>`: plant-store against itself in another checkout, for the effect of a change.
 * On the Node that runs this, then on Node 26 if it is installed; `--node=26` measures one of them. Of two, the file and the
 * chart have the second.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, resolve } from 'node:path';
import { PostgresServer } from '../../support/postgres.js';
import { buildChild, root } from './build.js';
import { chartOf } from './chart.js';
import { type Comparison, compare, type Effort } from './compare.js';
import type { Load } from './load.js';
import { type NodeProgram, nodesToMeasure } from './nodes.js';
import { waterfall } from './waterfall.js';

interface Row extends Load {
  readonly what: string;
  readonly against: string;
  /** Both sides, by their names in `hosts.ts` and `databases.ts`. */
  readonly pair: readonly [baseline: string, ours: string];
}

type Measured = Pick<Row, 'what' | 'against' | 'connections'> & Comparison;

/** What was measured, as `--json=<file>` writes it. */
export interface Results {
  readonly commit: string;
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly rows: readonly Measured[];
}

const host = (what: string, against: string, pair: Row['pair'], counts = [1, 8, 64]): Row[] =>
  counts.map((connections) => ({ what, against, connections, staysAwake: true, pair }));
const database = (what: string, name: string): Row[] =>
  [1, 8, 64].map((connections) => ({
    what,
    against: 'an INSERT a request',
    connections,
    staysAwake: false,
    pair: [`${name}-single`, name],
  }));

const rows: readonly Row[] = [
  ...host('toNode', 'node:http by hand', ['by-hand', 'toNode'], [1, 64]),
  ...host('toNode', 'Fastify 5 with schemas', ['fastify', 'toNode'], [1]),
  ...host('toFastify', 'Fastify 5 with schemas', ['fastify', 'toFastify']),
  ...host('toExpress', 'express.json and valibot', ['express', 'toExpress']),
  ...host('toFetch in Hono', 'bearerAuth and valibot', ['hono', 'toHono']),
  ...database('SQLite', 'sqlite'),
  ...database('PostgreSQL', 'postgres'),
];

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const valueAfter = (flag: string) =>
  process.argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
const isWaterfall = process.argv.includes('--waterfall');
const isQuick = process.argv.includes('--quick');
const before = valueAfter('--before');
const json = valueAfter('--json');
const chart = valueAfter('--chart');
const effort: Effort = isQuick
  ? { processes: 1, samples: 2, sampleMs: 80, warmUpMs: 50 }
  : { processes: 3, samples: 5, sampleMs: 500, warmUpMs: 1500 };

const picked = rows.filter(({ what, against, connections }) =>
  words.every((word) => `${what} ${against} ${connections}`.includes(word)),
);
const head = `| what | against | connections | requests a second: baseline | plant-store | ratio | µs of CPU a request: baseline | plant-store | ratio | bytes of heap a request: baseline | plant-store |
|${'---|'.repeat(11)}`;
const needsPostgres = !isWaterfall && picked.some(({ pair }) => pair.includes('postgres'));
const nodes = nodesToMeasure(valueAfter('--node'));
const server = needsPostgres ? await PostgresServer.start() : undefined;
if (server) process.env.BENCH_POSTGRES = server.url;
const now = await buildChild();
const then = before ? await buildChild(resolve(before)) : undefined;
try {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model}`;
  for (const node of nodes) {
    console.log(`${date}, commit ${commit}, Node ${node.version}, ${machine}\n`);
    if (isWaterfall) {
      console.log(`${await waterfall(node.path, now, effort)}\n`);
      continue;
    }
    console.log(head);
    const measured: Measured[] = [];
    for (const row of picked) {
      measured.push(await measure(row, node));
      console.log(lineOf(measured.at(-1)!));
    }
    console.log();
    const results = withEarlier({ commit, date, node: node.version, machine, rows: measured });
    if (json) writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`);
    if (chart) writeFileSync(chart, chartOf(results));
  }
} finally {
  for (const child of [now, then]) if (child) rmSync(dirname(child), { recursive: true });
  await server?.close();
}

/** A machine that others use is not quiet for long: its rows can be measured one by one, into one file. */
function withEarlier(results: Results): Results {
  if (!json || !existsSync(json)) return results;
  const earlier: Results = JSON.parse(readFileSync(json, 'utf8'));
  const isSame = (key: 'commit' | 'node' | 'machine') => earlier[key] === results[key];
  if (!isSame('commit') || !isSame('node') || !isSame('machine')) return results;
  const nameOf = ({ what, against, connections }: Measured) => `${what} ${against} ${connections}`;
  const measured = results.rows.map(nameOf);
  return {
    ...results,
    rows: [...earlier.rows.filter((row) => !measured.includes(nameOf(row))), ...results.rows],
  };
}

async function measure(row: Row, { path: node }: NodeProgram): Promise<Measured> {
  const { what, against, connections, staysAwake, pair } = row;
  const [baseline, name] = pair;
  const other = then ? { node, child: then, name } : { node, child: now, name: baseline };
  const ours = { node, child: now, name };
  const comparison = await compare(other, ours, { connections, staysAwake }, effort);
  return { what, against: then ? 'itself before' : against, connections, ...comparison };
}

function lineOf({ what, against, connections, rate, cost, bytes }: Measured): string {
  const brief = (value: number) =>
    value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });
  const cells = [rate, cost].flatMap(({ baseline, ours, ratio }) => [
    brief(baseline),
    brief(ours),
    `**${brief(ratio.median)}** (${brief(ratio.least)}–${brief(ratio.most)})`,
  ]);
  const heap = [bytes.baseline, bytes.ours].map(brief);
  return `| ${[what, against, connections, ...cells, ...heap].join(' | ')} |`;
}
