import { bundleBudget } from '../../package/budget.js';
import type { By } from './figures.js';
import { bodies, plantBodies } from './json.js';
import { names } from './load.js';
import type { Runtime } from './runtimes.js';

/** One line of the table; two if the contenders are servers, because each generator gives its own figures. */
export interface Row {
  readonly what: string;
  readonly against: string;
  /** Both sides, by their names in `contenders.ts`. Of several pairs, the worst is shown. */
  readonly pairs: readonly (readonly [baseline: string, ours: string])[];
  /** Default: `node`. */
  readonly runtime?: Runtime;
  /** What decides. Default: cost. */
  readonly by?: By;
  /** What cost is counted in. Default: µs. */
  readonly unit?: string;
  /** The ratio to reach at least, and the ratio to aim at; for `added`, the most microseconds. */
  readonly minimum?: number;
  readonly target?: number;
  /** Both sides in one process, in windows that take turns: resolves 3 %. */
  readonly inTurns?: boolean;
  /** The variable with the address of the database server that it needs. */
  readonly server?: 'BENCH_POSTGRES' | 'BENCH_POSTGRES_UNSAFE' | 'BENCH_MYSQL';
  /** Not part of `--quick`. */
  readonly long?: boolean;
  /** Takes so long to set up that it is set up once; not part of `--quick` either. */
  readonly setUp?: boolean;
}

/** Whether a row's contenders are servers, which a generator puts load on. */
export const isServed = ({ pairs }: Row): boolean => /^(hosts|fetch)\//.test(pairs[0]![0]);

const kib = 2 ** 10;
const mib = 2 ** 20;
const kinds = Object.keys(bodies);
const fiveMillion = 5_000_000;

/** A row of two servers under load. */
const host = (ours: string, against: string, baseline: string, minimum?: number, target?: number): Row => ({
  what: ours,
  against,
  pairs: [[`hosts/${baseline}`, `hosts/${ours}`]],
  ...(minimum && { minimum }),
  ...(target && { target }),
});

const runtimeNames = { node: 'Node', bun: 'Bun', deno: 'Deno' };

/** A row of a runtime that speaks Fetch. */
const fetchRow = (
  runtime: 'bun' | 'deno',
  against: string,
  baseline: string,
  minimum: number,
  target: number,
): Row => ({
  what: `toFetch on ${runtimeNames[runtime]}`,
  against,
  pairs: [[`fetch/${baseline}`, 'fetch/toFetch']],
  runtime,
  inTurns: true,
  minimum,
  target,
});

/** The version by hand against itself. */
const fetchBaseline = (runtime: 'bun' | 'deno'): Row => ({
  what: `by hand on ${runtimeNames[runtime]}`,
  against: 'itself: the A/A',
  pairs: [['fetch/by-hand', 'fetch/by-hand']],
  runtime,
  inTurns: true,
});

/** A lone create against the INSERT that people write, by the medians of their times. */
const loneRow = (what: string, insert: string, ours: string, slower: number, aim: number): Row => ({
  what: `${what}, a lone create`,
  against: 'an INSERT, the same pool',
  pairs: [[`databases/${insert}`, `databases/${ours}`]],
  by: 'p50',
  inTurns: true,
  minimum: 1 / slower,
  target: 1 / aim,
});

/** The rows of the operation in process. */
const handleRows = (runtime: Runtime): Row[] =>
  [30_000, 0].map((timeoutMs) => ({
    what: `handle on ${runtimeNames[runtime]}, ${timeoutMs ? 'deadline' : 'no deadline'}`,
    against: 'by hand there',
    pairs: [['handles/by-hand', `handles/handle ${timeoutMs}`]],
    runtime,
    minimum: 0.5,
    target: 0.65,
  }));

export function rows(core: string, root: string): Row[] {
  return [
    host('baseline', 'itself: the A/A', 'baseline'),
    host('toNode', 'node:http by hand', 'baseline', 0.97, 1.02),
    {
      what: 'toNode, a database of 1 ms',
      against: 'node:http by hand, the same',
      pairs: [['hosts/baseline-1ms', 'hosts/toNode-1ms']],
    },
    host('toNode', 'Fastify 5, schemas', 'fastify', 1, 1.1),
    host('toFastify', 'Fastify 5, schemas', 'fastify', 0.95, 1.05),
    host('toKoa', 'koa-bodyparser + valibot', 'koa', 1.2, 1.3),
    host('toKoa', 'the baseline in Koa', 'koa-bare'),
    host('toExpress', 'express.json + valibot', 'express', 1.4, 1.6),
    host('toExpress', 'the baseline in Express', 'express-bare'),
    host('toFetch in Hono', 'bearerAuth + valibot', 'hono', 1.9, 2.2),
    fetchBaseline('bun'),
    fetchRow('bun', 'Hono, the same checks', 'hono', 1.8, 2.2),
    fetchRow('bun', 'Elysia, a schema', 'elysia', 0.8, 1),
    fetchRow('bun', 'by hand, same promises', 'by-hand', 0.78, 0.85),
    fetchBaseline('deno'),
    fetchRow('deno', 'Hono, the same checks', 'hono', 3, 4),
    fetchRow('deno', 'by hand, same promises', 'by-hand', 0.82, 0.9),
    ...handleRows('node'),
    ...handleRows('bun'),
    ...handleRows('deno'),
    {
      what: 'exact JSON, a plant',
      against: 'JSON.parse',
      pairs: Object.keys(plantBodies).map((name) => [`json/parse ${name}`, `json/exact ${name}`]),
      unit: 'µs/B',
      minimum: 1 / 1.6,
    },
    {
      what: 'exact JSON, any 1 MiB',
      against: 'JSON.parse',
      pairs: kinds.map((kind) => [`json/parse ${kind} ${mib}`, `json/exact ${kind} ${mib}`]),
      unit: 'µs/B',
      minimum: 1 / 4,
    },
    {
      what: 'exact JSON, at 1 MiB',
      against: 'itself at 1 KiB',
      pairs: kinds.map((kind) => [`json/exact ${kind} ${kib}`, `json/exact ${kind} ${mib}`]),
      unit: 'µs/B',
      long: true,
      minimum: 1 / 1.5,
    },
    {
      what: 'the pass alone, at 1 MiB',
      against: 'itself at 1 KiB',
      pairs: kinds.map((kind) => [`json/pass ${kind} ${kib}`, `json/pass ${kind} ${mib}`]),
      unit: 'µs/B',
      long: true,
      minimum: 1 / 1.5,
    },
    {
      what: 'JSON.parse, at 1 MiB',
      against: 'itself at 1 KiB',
      pairs: kinds.map((kind) => [`json/parse ${kind} ${kib}`, `json/parse ${kind} ${mib}`]),
      unit: 'µs/B',
      long: true,
    },
    {
      what: 'SQLite, 64 at a time',
      against: 'a transaction a plant',
      pairs: [['databases/sqlite-single', 'databases/sqlite']],
      by: 'rate',
      minimum: 23,
      target: 25,
    },
    {
      what: 'SQLite, 64 at a time',
      against: 'bare transactions of 64',
      pairs: [['databases/sqlite-bare', 'databases/sqlite']],
      by: 'rate',
      minimum: 0.7,
      target: 0.85,
    },
    {
      what: 'handle on SQLite, 64 at a time',
      against: 'a transaction a plant',
      pairs: [['databases/sqlite-single-handle', 'databases/sqlite-handle']],
      by: 'rate',
      long: true,
    },
    {
      what: 'handle on SQLite, 64 at a time',
      against: 'bare transactions of 64',
      pairs: [['databases/sqlite-bare', 'databases/sqlite-handle']],
      by: 'rate',
      minimum: 0.7,
      target: 0.85,
      long: true,
    },
    loneRow('SQLite FULL', 'sqlite-lone-insert', 'sqlite-lone', 1.2, 1.1),
    {
      ...loneRow(
        'PostgreSQL',
        'postgres-lone-insert BENCH_POSTGRES a',
        'postgres-lone BENCH_POSTGRES b',
        1.1,
        1.05,
      ),
      server: 'BENCH_POSTGRES',
    },
    {
      ...loneRow(
        'PostgreSQL, fsync off',
        'postgres-lone-insert BENCH_POSTGRES_UNSAFE a',
        'postgres-lone BENCH_POSTGRES_UNSAFE b',
        1.15,
        1.05,
      ),
      server: 'BENCH_POSTGRES_UNSAFE',
    },
    { ...loneRow('MariaDB', 'mysql-lone-insert a', 'mysql-lone b', 1.1, 1.05), server: 'BENCH_MYSQL' },
    {
      what: 'PostgreSQL, 64 at a time',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single a', 'databases/postgres b']],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      minimum: 6.4,
      target: 7.5,
    },
    {
      what: 'PostgreSQL, p50 of a create',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single a', 'databases/postgres b']],
      server: 'BENCH_POSTGRES',
      by: 'p50',
      minimum: 4,
      target: 6,
    },
    {
      what: 'PostgreSQL, 64 at a time',
      against: 'a bare unnest of 64',
      pairs: [['databases/postgres-bare a', 'databases/postgres b']],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      minimum: 0.7,
      target: 0.85,
    },
    {
      what: 'handle on PostgreSQL, 64 at a time',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single-handle a', 'databases/postgres-handle b']],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      long: true,
    },
    {
      what: 'handle on PostgreSQL, 64 at a time',
      against: 'a bare unnest of 64',
      pairs: [['databases/postgres-bare a', 'databases/postgres-handle b']],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      minimum: 0.75,
      target: 0.85,
      long: true,
    },
    {
      what: 'SQLite, 5 million stored',
      against: 'with none',
      pairs: [['databases/sqlite', `databases/sqlite ${fiveMillion}`]],
      by: 'rate',
      minimum: 1 / 1.1,
      setUp: true,
    },
    {
      what: 'bare SQLite, 5 million stored',
      against: 'with none',
      pairs: [['databases/sqlite-bare', `databases/sqlite-bare ${fiveMillion}`]],
      by: 'rate',
      setUp: true,
    },
    {
      what: 'PostgreSQL, 5 million stored',
      against: 'with none',
      pairs: [['databases/postgres a', `databases/postgres b ${fiveMillion}`]],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      minimum: 1 / 1.1,
      setUp: true,
    },
    {
      what: 'bare PostgreSQL, 5 million',
      against: 'with none',
      pairs: [['databases/postgres-bare a', `databases/postgres-bare b ${fiveMillion}`]],
      server: 'BENCH_POSTGRES',
      by: 'rate',
      setUp: true,
    },
    ...names.map(
      (name, i): Row => ({
        what: `memory, a name of ${name.length} characters`,
        against: 'JSON.parse, a bare Map',
        pairs: [[`footprints/bytes-of-map ${i}`, `footprints/bytes-of-storage ${i}`]],
        unit: 'B',
        minimum: 1 / 1.1,
        target: 1,
      }),
    ),
    {
      what: 'core, toFetch, valibot; gzip',
      against: `${bundleBudget / 1000} kB`,
      pairs: [[`footprints/bytes-allowed ${bundleBudget}`, `footprints/bytes-zipped ${core} Fetch`]],
      unit: 'B',
      minimum: 1,
      target: bundleBudget / 4000,
    },
    {
      what: 'core, toNode, valibot; gzip',
      against: `${bundleBudget / 1000} kB`,
      pairs: [[`footprints/bytes-allowed ${bundleBudget}`, `footprints/bytes-zipped ${core} Node`]],
      unit: 'B',
    },
    {
      what: 'import of the core',
      against: "valibot's",
      pairs: [[`footprints/import-valibot ${root}`, `footprints/import-core ${core} ${root}`]],
      unit: 'ms',
      minimum: 1 / 1.5,
    },
  ];
}
