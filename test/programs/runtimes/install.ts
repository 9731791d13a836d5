import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import ecosystem from '../../ecosystem/package.json' with { type: 'json' };

declare module 'vitest' {
  interface ProvidedContext {
    /** The temporary folder that has the runtimes in its `node_modules`. */
    runtimes: string;
  }
}

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** The packages to install, by their name in `node_modules`. */
const packages = [
  ...['18', '22', '24', '26'].map((version) => `node${version}@npm:node-${platform}@${version}`),
  'bun@1',
  'deno@2',
  'miniflare@4',
  'elysia@1',
  '@vercel/node@24',
  // Exact: the signal of a request of this srvx aborts too early.
  'nitro@3.0.0',
  'srvx@0.8.16',
  'next@16',
  'react@19',
  'react-dom@19',
  ...['5.0', '5.4', '5.6', '5.9', 'latest'].map(
    (version) => `typescript-${version}@npm:typescript@${version}`,
  ),
  // Agents and patches that wrap the handlers of an app.
  ...(['instrumentation', 'instrumentation-express', 'instrumentation-http', 'sdk-trace-base'] as const).map(
    (name) => `@opentelemetry/${name}@${ecosystem.dependencies[`@opentelemetry/${name}`]}`,
  ),
  '@opentelemetry/instrumentation-koa@0.71',
  'newrelic@13',
  '@sentry/node@11',
  'dd-trace@5',
  'express-async-errors@3',
  'express@4',
];

/** Builds the package, and installs the runtimes from npm in a temporary folder. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-runtimes-'));
  const run = (...args: string[]) => execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  run('run', 'build');
  // Optional, because it compiles itself if it cannot fetch its binary. Its test is skipped if it is missing.
  const optionalDependencies = { 'better-sqlite3': '12' };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', optionalDependencies }),
  );
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--no-save'];
  // These packages fetch or place their binary in an install script.
  run('install', '--prefix', folder, ...quiet, '--ignore-scripts=false', ...packages);
  project.provide('runtimes', folder);
  // Not synchronously: meanwhile vitest could not hear that its workers have ended.
  return () => rm(folder, { recursive: true, force: true });
}
