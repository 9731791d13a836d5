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

/** The rows of a runtime that speaks Fetch. */
const fetchRows = (runtime: 'bun' | 'deno', minimum: number, target: number): Row[] => [
  {
    what: `baseline on ${runtimeNames[runtime]}`,
    against: 'itself: the A/A',
    pairs: [['fetch/by-hand', 'fetch/by-hand']],
    runtime,
  },
  {
    what: `toFetch on ${runtimeNames[runtime]}`,
    against: `by hand on ${runtimeNames[runtime]}`,
    pairs: [['fetch/by-hand', 'fetch/toFetch']],
    runtime,
    minimum,
    target,
  },
];

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
    host('toNode', 'node:http by hand', 'baseline', 0.97, 1.05),
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
    ...fetchRows('bun', 0.8, 0.95),
    ...fetchRows('deno', 0.7, 0.85),
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
      minimum: 20,
      target: 40,
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
    {
      what: 'SQLite, a lone create',
      against: 'its statement alone',
      pairs: [['databases/sqlite-lone-bare', 'databases/sqlite-lone']],
      by: 'added',
      minimum: 15,
      target: 8,
    },
    {
      what: 'PostgreSQL, 64 at a time',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single a', 'databases/postgres b']],
      by: 'rate',
      minimum: 5,
      target: 7,
    },
    {
      what: 'PostgreSQL, p50 of a create',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single a', 'databases/postgres b']],
      by: 'p50',
      minimum: 4,
      target: 6,
    },
    {
      what: 'PostgreSQL, 64 at a time',
      against: 'a bare unnest of 64',
      pairs: [['databases/postgres-bare a', 'databases/postgres b']],
      by: 'rate',
      minimum: 0.7,
      target: 0.85,
    },
    {
      what: 'handle on PostgreSQL, 64 at a time',
      against: 'an INSERT a request',
      pairs: [['databases/postgres-single-handle a', 'databases/postgres-handle b']],
      by: 'rate',
      long: true,
    },
    {
      what: 'handle on PostgreSQL, 64 at a time',
      against: 'a bare unnest of 64',
      pairs: [['databases/postgres-bare a', 'databases/postgres-handle b']],
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
      by: 'rate',
      minimum: 1 / 1.1,
      setUp: true,
    },
    {
      what: 'bare PostgreSQL, 5 million',
      against: 'with none',
      pairs: [['databases/postgres-bare a', `databases/postgres-bare b ${fiveMillion}`]],
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
