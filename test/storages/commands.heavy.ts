// Each incident of the table of adapters/OPERATING.md is provoked on a real database: a create fails by a line of its row, and the first
// command of the row, pasted as the page has it, shows the culprit.
import { spawnSync } from 'node:child_process';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { obstacleOfSqld } from '../ecosystem/sqld.js';
import { describeUnless } from '../support/obstacle.js';
import { rows } from '../support/runbook.js';
import { type CommandCase, lineOf, pasted, rowOfCause } from './commands.js';
import { casesOfMariaDb, mariadb, openMariaDb, resetMariaDb } from './commands-mariadb.js';
import { casesOfPostgres, openPostgres, psql, resetPostgres } from './commands-postgres.js';
import { casesOfApp, casesOfSqlite } from './commands-sqlite.js';
import { mariaDbObstacle } from './fault-mariadb.js';

const programs = ['psql', 'mariadb', 'mariadb-admin', 'sqlite3', 'fuser', 'curl', 'ps', 'pgbouncer'];
const missing = programs.filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name} /usr/sbin/${name}`]).status !== 0,
);
/** `.ci/run` installs them. */
const obstacle = missing.length > 0 ? `${missing.join(', ')} not found` : undefined;

function itShowsCulprits(cases: readonly CommandCase[], client: () => readonly string[] = () => []): void {
  it.each(cases.map((each) => [`${each.cause} (${each.on})`, each] as const))(
    '%s',
    async (_, { cause, on, provoke }) => {
      const row = rowOfCause(cause);
      const command = row.commands.find((each) => each.on === on)!.text;
      const { shows, lacks, env, storage, end } = await provoke();
      onTestFinished(async () => void (await end?.()));
      if (storage) {
        const line = await lineOf(storage);
        expect(row.codes).toContain(line.slice(0, 5));
        if (row.texts.length > 0)
          expect(
            row.texts.filter((text) => line.includes(text)),
            line,
          ).not.toEqual([]);
      }
      const output = await pasted(command, client(), env);
      expect(output).toMatch(shows);
      if (lacks) expect(output).not.toMatch(lacks);
    },
  );
}

describeUnless(obstacle, 'PostgreSQL', () => {
  beforeAll(openPostgres);
  beforeEach(resetPostgres);
  itShowsCulprits(casesOfPostgres, psql);
});

describeUnless(obstacle ?? mariaDbObstacle, 'MariaDB', () => {
  beforeAll(openMariaDb);
  beforeEach(resetMariaDb);
  itShowsCulprits(casesOfMariaDb, mariadb);
});

describeUnless(obstacle ?? obstacleOfSqld(), 'SQLite', () => itShowsCulprits(casesOfSqlite));

describeUnless(obstacle, 'an issuer and an app', () => itShowsCulprits(casesOfApp));

it('runs each command of the page', () => {
  const cases = [...casesOfPostgres, ...casesOfMariaDb, ...casesOfSqlite, ...casesOfApp];
  const run = cases.map(({ cause, on }) => `${rowOfCause(cause).cause} (${on})`);
  const all = rows.flatMap(({ cause, commands }) =>
    commands.filter(({ isRun }) => isRun).map(({ on }) => `${cause} (${on})`),
  );
  expect(run.sort()).toEqual(all.sort());
});
