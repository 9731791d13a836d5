import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { galeraPrograms } from './galera.js';
import { accountOf } from './machine.js';
import { patroniPrograms } from './patroni.js';
import { postgresPrograms } from './postgres.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why the clusters cannot run here; empty when they can. */
    obstacle: string;
  }
}

/** Installs the database servers, or provides the obstacle to the tests. */
export default function setup(project: TestProject): void {
  const obstacle = install();
  if (obstacle && process.env.CI === 'true' && hasApt()) throw new Error(obstacle);
  if (obstacle) console.log(`The clusters cannot run here, so these tests are skipped: ${obstacle}`);
  project.provide('obstacle', obstacle);
}

function install(): string {
  if (process.getuid?.() !== 0) return 'they need root, to start servers as the users mysql and postgres';
  if (missing().length === 0) return '';
  if (!hasApt()) return `${missing().join(', ')} not found, and there is no apt-get to install them`;
  const packages = missing();
  console.log(`Installing ${packages.join(', ')}`);
  const said = withoutServices(() => {
    const updated = apt('update');
    return apt('install', '--yes', '--no-install-recommends', ...packages) || updated;
  });
  const still = missing();
  return still.length === 0
    ? ''
    : `apt-get could not install ${still.join(', ')}: ${said.trim().split('\n').at(-1)}`;
}

function missing(): string[] {
  return [
    ...(galeraPrograms() && accountOf('mysql') ? [] : ['mariadb-server', 'galera-4', 'rsync', 'lsof']),
    ...(postgresPrograms() && accountOf('postgres') ? [] : ['postgresql']),
    // Patroni's module for etcd's v2 API is a separate package.
    ...(patroniPrograms() ? [] : ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'pgbouncer']),
  ];
}

function hasApt(): boolean {
  return existsSync('/usr/bin/apt-get');
}

/** @returns the error output if it failed */
function apt(...args: readonly string[]): string {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another program may be installing at this moment.
  const patient = ['-o', 'DPkg::Lock::Timeout=120', ...args];
  const { status, stderr } = spawnSync('apt-get', patient, { env, encoding: 'utf8', timeout: 240_000 });
  return status === 0 ? '' : stderr || `apt-get ${args[0]} took too long`;
}

/** Keeps Debian's packages from starting servers: each test starts its own. */
function withoutServices<T>(work: () => T): T {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return work();
  } finally {
    rmSync(policy);
  }
}
