/** A Prometheus with the alerts of `examples/around/alerts.yml`, on a time scale of its own. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort, startProgram, untilTestEnds } from '../support/program.js';
import { root } from '../support/root.js';
import { newFolder } from '../support/run-folder.js';

export const missing = ['prometheus', 'promtool'].some((program) => spawnSync(program, ['--version']).error)
  ? 'prometheus is not installed: apt-get install prometheus'
  : undefined;

const alerts = readFileSync(join(root, 'examples/around/alerts.yml'), 'utf8');

/** The names of all alerts. */
export const alertNames = [...alerts.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name!);

/** The file of alerts, with every duration divided: a minute becomes 6 s if `by` is 10. */
export function alertsFaster(by: number): string {
  const seconds = { s: 1, m: 60 };
  return alerts.replace(/\b(\d+)([sm])\b/g, (_, count, unit: 's' | 'm') => {
    return `${(Number(count) * seconds[unit] * 1_000) / by}ms`;
  });
}

export class Prometheus {
  private constructor(readonly port: number) {}

  /** Starts one for as long as the test runs, which scrapes these addresses twice a second. */
  static async start(rules: string, targets: readonly string[]): Promise<Prometheus> {
    const folder = newFolder();
    const port = await freePort();
    writeFileSync(join(folder, 'alerts.yml'), rules);
    const config = `
      global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }
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
    const query = new URLSearchParams({
      query: 'ALERTS{alertstate="firing"}',
      start: String(sinceMs / 1_000),
      end: String(Date.now() / 1_000),
      step: '0.5',
    });
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/query_range?${query}`);
    const { data } = (await response.json()) as { data: { result: Series[] } };
    const fired = new Map<string, Map<string, number>>();
    for (const { metric, values } of data.result) {
      const { instance, alertname } = metric;
      fired.set(instance, (fired.get(instance) ?? new Map()).set(alertname, values[0]![0]));
    }
    return fired;
  }
}

interface Series {
  readonly metric: { readonly instance: string; readonly alertname: string };
  readonly values: readonly [at: number, value: string][];
}

/** What `promtool` says of a test of rules. */
export function promtoolTest(rules: string, test: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'alerts.yml'), rules);
  writeFileSync(join(folder, 'test.yml'), test);
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
}
