import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { galeraPrograms } from './galera.js';
import { accountOf } from './machine.js';
import { networkObstacle, removeLeftovers } from './network.js';
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
  const obstacle = install() || networkObstacle();
  if (!obstacle) removeLeftovers();
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
  const { stderr } = spawnSync('sh', ['-c', script, 'sh', ...packages], { encoding: 'utf8' });
  const still = missing();
  return still.length === 0
    ? ''
    : `apt-get could not install ${still.join(', ')}: ${stderr.trim().split('\n').at(-1)}`;
}

/** Keeps Debian's packages from starting servers, because each test starts its own. Another program may be installing, too. */
const script = String.raw`
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod 755 $policy
  trap "rm $policy" EXIT
fi
get() { DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -o DPkg::Lock::Timeout=120 "$@"; }
get update
get install --yes --no-install-recommends "$@"`;

function missing(): string[] {
  return [
    ...(galeraPrograms() && accountOf('mysql') ? [] : ['mariadb-server', 'galera-4', 'rsync', 'lsof']),
    ...(postgresPrograms() && accountOf('postgres') ? [] : ['postgresql']),
    // Patroni's module for etcd's v2 API is a separate package.
    ...(patroniPrograms() ? [] : ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'pgbouncer']),
    ...(existsSync('/usr/sbin/nft') ? [] : ['nftables', 'iproute2']),
  ];
}

function hasApt(): boolean {
  return existsSync('/usr/bin/apt-get');
}
