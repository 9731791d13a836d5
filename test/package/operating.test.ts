// Each row of the tables of adapters/OPERATING.md is one that a test provokes: the title of that test, or a part of it.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { incidents } from '../ecosystem/incidents.js';
import { incidentsOfMariaDb } from '../ecosystem/incidents-mariadb.js';
import { incidentsOfPgbouncer } from '../ecosystem/incidents-pgbouncer.js';
import { incidentsOfSqlite } from '../ecosystem/incidents-sqlite.js';
import { intro, page, parties, rowOf, rows } from '../support/runbook.js';

const root = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const provoked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'The pool': {
    login: 'a network that vanishes without a RST fills no pool that has a connectionTimeoutMillis',
    statement: 'a table that is locked for longer than statement_timeout is an outage',
    listener: 'without a listener on its pool, a dropped idle connection crashes the process',
    size: 'a database without a connection left is unavailable, and the line says so',
  },
  Metrics: {
    '`queued`': 'a frozen database: the gauges show it at once',
    '`inFlightMs`': 'a frozen database: the gauges show it at once',
    '`isOpen`': 'a frozen database: the gauges show it at once',
    '`failedInRow`, `failingMs`': 'are counted in a row until a plant is stored',
    '`rejectedInRow`, `rejectingMs`':
      'plants that the database rejects are counted apart until one is stored',
    '`onStatus`': 'are told once, 1.5 s after the first, and once when plants are stored again',
    '`end` of a batch': 'onBatch tells how each call to the server ended, with its plants and its time',
    '`plants`, `failed`, `ms`':
      'onBatch tells how each call to the server ended, with its plants and its time',
  },
  Timeouts: {
    request: 'a storage that is slower than the request times out by the request',
    'create, and each call to the database': 'a frozen database: the gauges show it at once',
    statement: 'a table that is locked for longer than statement_timeout is an outage',
    login: 'a network that vanishes without a RST fills no pool that has a connectionTimeoutMillis',
    lock: 'a row that another transaction has locked blocks a batch for a fraction of a second at a time',
    'probe of an open circuit': 'a probe that an outage keeps from being sent has the cause of the outage',
    'drain of a refused upload': 'with timeoutMs %i, a body that is too large is drained for %i ms',
  },
  'Deployments and migrations': {
    'a new column that `columns` fills':
      'two versions share a table while a migration adds, widens and drops',
    'a column that `columns` no longer fills':
      'two versions share a table while a migration adds, widens and drops',
    'a wider type of a column (`int` to `bigint`, `varchar` to `text`)':
      'two versions share a table while a migration adds, widens and drops',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as the title is written
    'any other type of a column': 'a column of ${of} of the type ${type} ${title}',
    'another `namespace`': 'tells of a missing unique index of a namespace with what creates it',
    '`acceptReplays`':
      'a client that lost its response gets 200 again with acceptReplays, and 40003 for another plant',
  },
  Probes: {
    liveness: '%s responds to the create in flight after SIGTERM, and exits with the pool closed',
    readiness: '%s responds to the create in flight after SIGTERM, and exits with the pool closed',
    startup: 'shutdown-express does not listen on a table that it cannot use, and prints the remedy',
  },
};

/** The formulas of the first are arithmetic, and its figures those of a machine; other tests hold the others, and those below. */
const measured = ['Sizing', 'By alert'];

/** The tables of the page: from the heading of each to the first cells of its rows. */
const tables = page.split(/^## /m).flatMap((section): [string, string[]][] => {
  const [heading = ''] = section.split('\n', 1);
  // But for the heads of tables.
  const rows = [...section.matchAll(/^\| (.+) \|$(?!\n\|---)/gm)].map(([, cells]) => cells!.split(' | '));
  const keys = rows.map(([first = '']) => first);
  return keys.length > 0 && !measured.includes(heading) ? [[heading, keys]] : [];
});

it('lists a test of each row of each table, and no row that is gone', () => {
  const listed = Object.entries(provoked).map(([heading, rows]) => [heading, Object.keys(rows)]);
  expect(listed).toEqual(tables);
});

const tests = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('operating.test.ts'))
  .map((name) => read(`test/${name}`));

it('lists titles that tests have', () => {
  const titles = Object.values(provoked).flatMap((rows) => Object.values(rows));
  expect(titles.filter((title) => !tests.some((text) => text.includes(title)))).toEqual([]);
});

/** From the cause in each row of the table by alert that has no command to a test of its line, or an incident that raises its alert. */
const causes: Readonly<Record<string, string>> = {
  'The app has ended its pool': 'the app has ended its pool',
  'Earlier creates have failed, and the rest of the line says why':
    'a database that is stopped: the first line comes at the timeout',
  'Something else about the table does not fit':
    'a column that must be filled and is not, added by a migration, is one line',
  'A body parser has consumed the body': 'a body parser has consumed the body',
  'A `handler` of `guard` threw, or plant-store has a bug': 'a guarded route of the app throws',
  'The event loop of the app is blocked, and all routes are slow': 'the event loop of the app is blocked',
  "The storage outlasts the request's `timeoutMs`": 'the request has less time than the storage',
  'Most creates fail, with several error numbers': 'two kinds of 5xx beside each other',
  'Some calls get no response, and their creates are unknown': '2 % of outcomes that are unknown',
  'Batches are retried, and no line has come yet': 'a row is locked',
  'Nothing but 401s for ten minutes': 'nothing but 401s',
};

it('has a test for each row of the table by alert: storages/commands.heavy.ts has those with a command', () => {
  const others = rows.filter(({ commands }) => !commands.some(({ isRun }) => isRun));
  expect(others.map(({ cause }) => cause)).toEqual(Object.keys(causes));
  const titles = Object.values(causes);
  expect(titles.filter((title) => !tests.some((text) => text.includes(title)))).toEqual([]);
});

it('says what is above that table in sixty words', () => {
  expect(intro.split(/\s+/).length).toBeLessThanOrEqual(60);
});

it('says in each row who fixes it, and what ends it', () => {
  const named = Object.values(parties);
  const lacking = rows.filter(({ whose, end }) => !end || !named.some((party) => party.test(whose)));
  expect(lacking.map(({ cause }) => cause)).toEqual([]);
});

const alerts = read('examples/around/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1)
  .map((rule) => ({
    name: /^\w+/.exec(rule)![0],
    isTicket: rule.includes('severity: ticket'),
    runbook: /^ +(runbook(?:_url)?: .+)$/m.exec(rule)?.[1],
  }));

it('has a row for each alert of alerts.yml, which marks tickets, and for no other', () => {
  const names = alerts.map(({ name }) => name).sort();
  expect(names.length).toBeGreaterThan(10);
  expect([...new Set(rows.flatMap((row) => row.alerts))].sort()).toEqual(names);
  for (const { name, isTicket } of alerts)
    for (const cell of page.matchAll(new RegExp(`^\\|.*?\`${name}\`( \\*ticket\\*)?`, 'gm')))
      expect([name, Boolean(cell[1])]).toEqual([name, isTicket]);
});

it('has an anchor at the first row of each alert, to which its annotation leads', () => {
  const { repository } = JSON.parse(read('package.json')) as { repository?: { url: string } };
  const base = repository?.url.replace(/^git\+|\.git$/g, '');
  for (const { name, runbook } of alerts) {
    const place = `adapters/OPERATING.md#${name.toLowerCase()}`;
    expect(runbook).toBe(base ? `runbook_url: ${base}/blob/main/${place}` : `runbook: ${place}`);
    const anchored = rows.filter(({ anchors }) => anchors.includes(name.toLowerCase()));
    expect(anchored).toEqual([rows.find((row) => row.alerts.includes(name))]);
  }
});

const all = [...incidents, ...incidentsOfPgbouncer, ...incidentsOfMariaDb, ...incidentsOfSqlite];

it('expects each alert of an incident or of series', () => {
  const names = (text: string) => [...new Set(text.match(/\bPlantStore[A-Z]\w+/g))].sort();
  const tested = ['alerts.heavy.ts', 'incidents.ts', 'incidents-pgbouncer.ts', 'incidents-mariadb.ts'].map(
    (file) => read(`test/ecosystem/${file}`),
  );
  expect(names(tested.join(''))).toEqual(alerts.map(({ name }) => name).sort());
});

const provokedOnes = all.flatMap(({ name, party, page: first, ticket }) => {
  const raised = [first, ticket].flat().filter((alert) => alert !== undefined);
  return raised.length > 0 ? [{ name, party, raised }] : [];
});

it.each(provokedOnes)('has a row with the alert of "$name", and who can end it', ({ party, raised }) => {
  const found = rows.filter((row) => raised.some((alert) => row.alerts.includes(alert)));
  expect(found.filter(({ whose }) => parties[party].test(whose))).not.toEqual([]);
});

it.each([
  [
    'PlantStoreUnavailable',
    '50301 busy: the circuit is open: no connection: Error ECONNREFUSED',
    'The server is stopped',
  ],
  [
    'PlantStoreUnavailable',
    'no plant has been stored for 1.5 s: Error 55P03',
    'Another transaction has locked the table',
  ],
  ['PlantStoreRolledBack', '', 'Batches are retried'],
])('is read as somebody on call does: %s and "%s"', (alert, line, cause) => {
  expect(rowOf(alert, line)?.cause).toMatch(cause);
});
