/** A Prometheus with the alerts of `examples/around/alerts.yml`, on a time scale of its own. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort, startProgram, untilTestEnds } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';

export const missing = ['prometheus', 'promtool'].some((program) => spawnSync(program, ['--version']).error)
  ? 'prometheus is not installed: apt-get install prometheus'
  : undefined;

const alerts = readFileSync(join(root, 'examples/around/alerts.yml'), 'utf8');

/** The alerts that wake somebody. */
export const pages = alertsOf('page');

function alertsOf(severity: string): string[] {
  const rules = alerts.split(/^ +- alert: /m).slice(1);
  return rules.filter((rule) => rule.includes(`severity: ${severity}`)).map((rule) => /^\w+/.exec(rule)![0]);
}

export class Prometheus {
  private constructor(readonly port: number) {}

  /** Starts one for as long as the test runs, which scrapes these addresses as the file of alerts asks for. */
  static async start(targets: readonly string[]): Promise<Prometheus> {
    const folder = newFolder();
    const port = await freePort();
    writeFileSync(join(folder, 'alerts.yml'), alerts);
    const config = `
      global: { scrape_interval: 5s, scrape_timeout: 4s, evaluation_interval: 5s }
      rule_files: [alerts.yml]
      scrape_configs:
        - job_name: plants
          static_configs: [{ targets: ${JSON.stringify(targets)} }]
      `.replace(/^ {6}/gm, '');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    const options = {
      'config.file': join(folder, 'prometheus.yml'),
      'storage.tsdb.path': join(folder, 'data'),
      'web.listen-address': `127.0.0.1:${port}`,
    };
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const program = untilTestEnds(startProgram(['prometheus', ...flags]));
    await program.printed(/Server is ready to receive web requests/);
    return new Prometheus(port);
  }

  /** When each alert began to fire, by the address that it was about: seconds since the epoch. */
  async fired(sinceMs: number): Promise<Map<string, Map<string, number>>> {
    const fired = new Map<string, Map<string, number>>();
    for (const { metric, values } of await this.query('ALERTS{alertstate="firing"}', sinceMs, 1)) {
      const { instance, alertname } = metric;
      const times = fired.get(instance) ?? new Map<string, number>();
      fired.set(instance, times.set(alertname, Math.min(values[0]![0], times.get(alertname) ?? Infinity)));
    }
    return fired;
  }

  /** What an expression has been since then, each so many seconds. */
  async query(expression: string, sinceMs: number, step: number): Promise<Series[]> {
    const query = new URLSearchParams({
      query: expression,
      start: String(sinceMs / 1_000),
      end: String(Date.now() / 1_000),
      step: String(step),
    });
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/query_range?${query}`);
    const { data, error } = (await response.json()) as { data: { result: Series[] }; error?: string };
    if (error) throw new Error(error);
    return data.result;
  }
}

export interface Series {
  readonly metric: {
    readonly instance: string;
    readonly alertname: string;
    readonly [label: string]: string;
  };
  readonly values: readonly [at: number, value: string][];
}

/** What `promtool` says of a test of rules. */
export function promtoolTest(test: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'alerts.yml'), alerts);
  writeFileSync(join(folder, 'test.yml'), test);
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

/** What must not have been between two moments, in milliseconds: an expression that has had no sample at any evaluation. */
export type Never = readonly [what: string, expression: string, from: number, to: number];

/** Expects of series, with a sample each 5 s, that none of this has been. */
export function expectNever(series: readonly string[], nevers: readonly Never[]): void {
  const checks = nevers.map(([what, expression, from, to]) => {
    const [start, end] = [Math.ceil(from / 5_000) * 5, Math.floor(to / 5_000) * 5];
    // The name of the check is in what promtool prints of one that fails.
    const times = `count_over_time((${expression})[${end - start}s:5s])`;
    return `{ expr: '${times} # ${what}', eval_time: ${end}s, exp_samples: [] }`;
  });
  const tests = `[{ interval: 5s, input_series: [${series.join(', ')}], promql_expr_test: [${checks.join(', ')}] }]`;
  expect(promtoolTest(`{ rule_files: [alerts.yml], evaluation_interval: 5s, tests: ${tests} }`)).toContain(
    'SUCCESS',
  );
}
