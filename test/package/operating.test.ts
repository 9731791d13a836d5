// Each row of the tables of adapters/OPERATING.md is one that a test provokes: the title of that test, or a part of it.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { incidents, type Party } from '../ecosystem/incidents.js';
import { incidentsOfMariaDb } from '../ecosystem/incidents-mariadb.js';
import { incidentsOfPgbouncer } from '../ecosystem/incidents-pgbouncer.js';

const root = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const page = read('adapters/OPERATING.md');

const provoked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Codes and alerts': {
    '50301 `the storage is unavailable`, `the circuit is open`':
      'a database that is stopped: the first line comes at the timeout, and then every create fails at once',
    '50301 `the server refuses the login`':
      'is busy at once, without a retry, if the server refuses the login with %s: %s',
    '50301 `the pool gave no connection`, and the counts of the pool':
      'an app that uses up its own pool reads so, with the counts of the pool',
    '50301 `the app has closed the database connection`':
      'a full queue and another error at the same time have counts of their own',
    '50301 `the storage is unavailable`, and a lock timeout or a statement timeout behind it':
      '%s gets few statements, and all plants are stored after it',
    '50001 `did not answer within`, or a dropped connection':
      'a connection that is cut under its statement leaves the outcome unknown',
    '50004 `plant-store cannot use the table`':
      'a column that must be filled and is not, added by a migration, is one line with its remedy',
    '50004 the name of a constraint, a trigger or a policy':
      'a plant that a constraint rejects is one line, which names the constraint',
    '50002 the error of your verifier': 'an error that verifyToken got from %s, with the remedy',
    '50000 an error and its stack': 'a fault of a program, %s, and its stack',
    '50003 `mount plant-store before it, or keep rawBody`':
      'a body that was consumed, with the line of the app to move',
    '50301 `the storage queue is full`':
      'a full queue and another error at the same time have counts of their own',
    '50301 `was not sent`, `its batch was rolled back`':
      'a create whose batch was rolled back, and that then waits for its whole timeout, says both',
    '50301 `another transaction has locked the row`':
      'a locked row costs its own create alone, whose line says so, and the circuit stays closed',
    '50301 `already has an open transaction`':
      'a connection that comes with an open transaction costs one create, and says so',
    '50302 `timed out after` … waiting for storage':
      'a storage that is slower than the request times out by the request, and nothing is told of it twice',
    '200, but slowly': 'a trigger takes 250 ms a row',
    'all routes are slow': 'the event loop of the app is blocked',
    'an instance does not respond': 'its process is killed',
    'most creates fail, with several codes': 'two kinds of 5xx beside each other',
  },
  'The pool': {
    login: 'a network that vanishes without a RST fills no pool that has a connectionTimeoutMillis',
    statement: 'a table that is locked for longer than statement_timeout is an outage',
    listener: 'without a listener on its pool, a dropped idle connection crashes the process',
    size: 'a database without a connection left is unavailable, and the line has its words',
  },
  Metrics: {
    '`queued`': 'a frozen database: the gauges show it at once',
    '`inFlightSince`': 'a frozen database: the gauges show it at once',
    '`isOpen`': 'a frozen database: the gauges show it at once',
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
    'another `namespace`': 'tells of a key that lets one namespace alone have an id',
    '`acceptReplays`':
      'a client that lost its response gets 200 again with acceptReplays, and 40003 for another plant',
  },
  Probes: {
    liveness: '%s responds to the create in flight after SIGTERM, and exits with the pool closed',
    readiness: '%s responds to the create in flight after SIGTERM, and exits with the pool closed',
    startup: 'shutdown-express does not listen on a table that it cannot use, and prints the remedy',
  },
};

/** The formulas of this table are arithmetic, and its figures those of a machine. */
const measured = ['Sizing', 'Incidents'];

/** The tables of the page: from the heading of each to the first cells of its rows. */
const tables = page.split(/^## /m).flatMap((section): [string, string[]][] => {
  const [heading = ''] = section.split('\n', 1);
  // But for the heads of tables.
  const rows = [...section.matchAll(/^\| (.+) \|$(?!\n\|---)/gm)].map(([, cells]) => cells!.split(' | '));
  const keys = rows.map(([first = '', second]) => (/^\d{5}$/.test(first) ? `${first} ${second}` : first));
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

it('names each alert of alerts.yml, and each is expected of an incident or of series', () => {
  const names = (text: string) => [...new Set(text.match(/\bPlantStore[A-Z]\w+/g))].sort();
  const defined = names(read('examples/around/alerts.yml'));
  expect(defined.length).toBeGreaterThan(10);
  expect(names(page)).toEqual(defined);
  const tested = ['alerts.heavy.ts', 'incidents.ts', 'incidents-pgbouncer.ts', 'incidents-mariadb.ts'].map(
    (file) => read(`test/ecosystem/${file}`),
  );
  expect(names(tested.join(''))).toEqual(defined);
});

/** How the page names whoever can end an incident. */
const parties: Readonly<Record<Party, RegExp>> = {
  database: /the database/,
  network: /the network/,
  issuer: /the issuer/,
  app: /the app|developers/,
  developers: /developers|timeouts/,
  platform: /the platform/,
};

const all = [...incidents, ...incidentsOfPgbouncer, ...incidentsOfMariaDb];

const provokedOnes = all.flatMap(({ name, party, page: first, ticket }) => {
  const alerts = [first, ticket].flat().filter((alert) => alert !== undefined);
  return alerts.length > 0 ? [{ name, party, alerts }] : [];
});

it.each(provokedOnes)('has a row with the alert of "$name", and who can end it', ({ party, alerts }) => {
  const rows = page.split('\n').filter((line) => alerts.some((alert) => line.includes(alert)));
  expect(rows.filter((row) => parties[party].test(row))).not.toEqual([]);
});

it('prints the table of all incidents', () => {
  const groups = new Map<string, string[]>();
  for (const { name, party, page: first, ticket } of all.slice(1)) {
    const alert = [first].flat().filter((alert) => alert !== undefined);
    const alerts = alert.length > 0 ? alert : ticket ? [ticket] : [];
    const key = `| ${alerts.map((alert) => `\`${alert}\``).join(' or ') || 'a ticket, later'} | ${party} |`;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  // What was provoked on MariaDB, too, has a mark.
  const cell = (names: string[]) =>
    names
      .filter((name) => !names.some((other) => name === `MariaDB: ${other}`))
      .map((name) => (names.includes(`MariaDB: ${name}`) ? `${name} †` : name))
      .join('; ');
  const rows = [...groups].map(([key, names]) => `${key} ${cell(names)} |`);
  expect(page.split('\n## Incidents\n')[1]?.match(/^\| (?:`|a ticket).*$/gm)).toEqual(rows);
});
