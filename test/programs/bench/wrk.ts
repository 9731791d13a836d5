import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Done, Generator } from './generator.js';
import { names, path, takeIds, token } from './load.js';

/** Server and generator each have their own core, so that neither takes the other's time. */
export const serverCore = ['taskset', '-c', '0'];
const generatorCore = ['taskset', '-c', '1'];

/** Why wrk cannot be used here, if it cannot. */
export function wrkMissing(cores: number): string | undefined {
  if (cores < 2) return 'this machine has a single core';
  for (const command of ['wrk', 'taskset']) {
    try {
      execFileSync('which', [command], { stdio: 'ignore' });
    } catch {
      return `${command} is not installed (Debian: apt-get install ${command === 'wrk' ? 'wrk' : 'util-linux'})`;
    }
  }
  return undefined;
}

/** Plants of new ids, their names in turn, with the four headers that a request needs. */
const script = `
local names = { ${names.map((name) => `'${name}'`).join(', ')} }
local head = 'POST ${path} HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer ${token}\\r\\n' ..
  'Content-Type: application/json\\r\\nContent-Length: '
local id
function init(arguments) id = tonumber(arguments[1]) end
function request()
  id = id + 1
  local body = '{"id":' .. id .. ',"name":"' .. names[id % #names + 1] .. '","tag":"hedge"}'
  return head .. #body .. '\\r\\n\\r\\n' .. body
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print('RESULT ' .. summary.requests .. ' ' .. summary.duration .. ' ' .. latency:percentile(50) .. ' ' .. failed)
end
`;

/** Debian's wrk with one thread, in a new process for each sample. */
export class Wrk implements Generator {
  readonly #url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'plants-wrk-'));

  constructor(
    port: number,
    readonly connections: number,
  ) {
    this.#url = `http://127.0.0.1:${port}`;
    writeFileSync(join(this.#folder, 'plants.lua'), script);
  }

  /** In whole seconds, because wrk knows no others. */
  async run(ms: number): Promise<Done> {
    const seconds = Math.max(1, Math.round(ms / 1000));
    const script = join(this.#folder, 'plants.lua');
    // A server whose core is taken by others responds slowly, which is no failure.
    const options = [
      '-t1',
      `-c${this.connections}`,
      `-d${seconds}s`,
      '--timeout',
      '60s',
      '-s',
      script,
      this.#url,
    ];
    // More than any server here returns; wrk sends a request for each connection in addition to those that it counts.
    const firstId = takeIds(seconds * 1_000_000);
    const [command, ...args] = [...generatorCore, 'wrk', ...options, '--', String(firstId)];
    const { stdout } = await promisify(execFile)(command!, args);
    const [, requests, microseconds, p50, failed] =
      /RESULT (\d+) (\d+) ([\d.]+) (\d+)/.exec(stdout)?.map(Number) ?? [];
    if (!requests || failed) throw new Error(`wrk did not get a 200 each time:\n${stdout}`);
    return { operations: requests, seconds: microseconds! / 1e6, latencies: [p50!] };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
