import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { root } from '../../support/root.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The temporary folder that has the runtimes in its `node_modules`. */
    runtimes: string;
  }
}

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** The packages to install, by their name in `node_modules`. */
const packages = [
  // The suite of the oldest packages runs on the oldest Node 20 that vitest runs on.
  ...['18.20.8', '20.19.0', '22.23.3', '24.21.0', '26.10.0'].map(
    (version) => `node${version.slice(0, 2)}@npm:node-${platform}@${version}`,
  ),
  ...['20.0.0', '22.13.0'].map((version) => `node${version.slice(0, -2)}@npm:node-${platform}@${version}`),
  'bun@1.4.5',
  'bun1.4.3@npm:bun@1.4.3',
  'deno@2.9.6',
  'miniflare@4.20260730.0',
  'elysia@1.4.30',
  '@vercel/node@24.0.0',
  // The signal of a request of this srvx aborts too early.
  'nitro@3.0.0',
  'srvx@0.8.16',
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  // Generators of clients.
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.38.0',
  'typescript@5.9.3',
  // Agents and patches that wrap the handlers of an app.
  '@opentelemetry/instrumentation@0.223.0',
  '@opentelemetry/instrumentation-express@0.71.1',
  '@opentelemetry/instrumentation-http@0.223.0',
  '@opentelemetry/instrumentation-koa@0.71.0',
  '@opentelemetry/sdk-trace-base@2.12.1',
  'newrelic@13.20.0',
  '@sentry/node@11.12.0',
  'dd-trace@5.132.0',
  'express-async-errors@3.1.1',
  'express@4.22.3',
];

/** The packages that the canary takes in their newest release. The versions of the others are there for what they do. */
const moving = /^(node2[246]|bun|deno|miniflare|elysia|@vercel\/node|next|react|react-dom)@/;

/** With `NEWEST=true`, as in `.github/workflows/canary.yml`: of Node, the newest of each line. */
function newestOf(specifier: string): string {
  if (!moving.test(specifier)) return specifier;
  const [, name, version] = /^(.+)@([\d.]+)$/.exec(specifier)!;
  return `${name}@${name!.startsWith('node') ? version!.slice(0, 2) : 'latest'}`;
}

const wanted = process.env.NEWEST === 'true' ? packages.map(newestOf) : packages;

/**
 * Builds the package, and installs the runtimes from npm in a temporary folder, unless `RUNTIMES` names one that has them
 * (`npx tsx test/programs/runtimes/install.ts <folder>`).
 */
export default function setup(project: TestProject): () => Promise<void> {
  npm('run', 'build');
  const folder = process.env.RUNTIMES ?? mkdtempSync(join(tmpdir(), 'plant-store-runtimes-'));
  if (!process.env.RUNTIMES) install(folder);
  project.provide('runtimes', folder);
  // Not synchronously: meanwhile vitest could not hear that its workers have ended.
  return () => rm(folder, { recursive: true, force: true });
}

// Without optimization, SQLite compiles in 7 s instead of 40.
const env = { ...process.env, CFLAGS: '-O0', CXXFLAGS: '-O0' };
const npm = (...args: string[]) => execFileSync('npm', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });

function install(folder: string): void {
  // Optional, because it compiles itself if it cannot fetch its binary. Its test is skipped if it is missing.
  const optionalDependencies = { 'better-sqlite3': '12.11.1' };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', optionalDependencies }),
  );
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--no-save'];
  // These packages fetch or place their binary in an install script.
  npm('install', '--prefix', folder, ...quiet, '--ignore-scripts=false', ...wanted);
  for (const set of ['older', 'oldest', 'builds']) {
    mkdirSync(join(folder, set));
    copyFileSync(
      join(root, 'test/programs/runtimes', set, 'package.json'),
      join(folder, set, 'package.json'),
    );
    const scripts = `--ignore-scripts=${set === 'builds'}`;
    npm('install', '--prefix', join(folder, set), ...quiet, scripts, '--legacy-peer-deps');
  }
}

const [, program, folder] = process.argv;
if (program === fileURLToPath(import.meta.url)) install(folder!);
