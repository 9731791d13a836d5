import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Account, removeFolder } from './machine.js';

/** Where the configuration lives that people copy, and that the tests run. */
const configurationFolder = fileURLToPath(new URL('../../../examples/cluster', import.meta.url));

/** The machines of the databases, by the names that the files have. */
export const nodeNames = ['garden-a', 'garden-b', 'garden-c'] as const;

/** The last number of each machine's address: the files call them 10.0.0.10 to 10.0.0.13. */
const places = { app: 10, 'garden-a': 11, 'garden-b': 12, 'garden-c': 13 } as const;

/** A machine: a network namespace with one address. */
export class Machine {
  constructor(
    readonly name: string,
    readonly address: string,
    readonly namespace: string,
  ) {}

  /** A command that runs on this machine, as this account if given. */
  enter(command: string, account?: Account): [string, ...string[]] {
    const user = account ? ['--setuid', String(account.uid), '--setgid', String(account.gid)] : [];
    return ['nsenter', `--net=/run/netns/${this.namespace}`, ...user, command];
  }
}

/** What a machine drops of the packets that arrive. */
export interface Drops {
  /** All packets from these machines. */
  readonly from?: readonly Machine[];
  /** Of the packets from those machines only those from and to these ports. */
  readonly ports?: readonly number[];
  /** So many of a hundred, at random. */
  readonly percent?: number;
  /** Those with more bytes, as a router with a smaller MTU does whose ICMP messages are filtered. */
  readonly aboveBytes?: number;
}

/**
 * Four machines on a bridge, which can be cut apart. The test itself is on the bridge too, and no fault cuts it off, so that it can
 * always look at a machine.
 */
export class Network {
  readonly app: Machine;
  readonly nodes: readonly Machine[];
  readonly #prefix: string;
  readonly #bridge: string;
  readonly #port: string;

  constructor() {
    const owner = `${namespacePrefix}${process.pid}-${++networks}`;
    // A range for benchmarks (RFC 2544), which no network routes. By the number of vitest's worker: of two clusters beside each other that
    // shared a subnet, each test would look at either.
    const subnet = (process.ppid % 8) * 64 + Number(process.env.VITEST_POOL_ID) * 8 + networks;
    this.#prefix = `198.${18 + (subnet >> 8)}.${subnet & 255}.`;
    this.#bridge = `${owner}-bridge`;
    this.#port = `pl-${process.pid}-${networks}`;
    const machines = Object.entries(places).map(
      ([name, last]) => new Machine(name, this.#prefix + last, `${owner}-${name}`),
    );
    [this.app, ...this.nodes] = machines as [Machine, ...Machine[]];
    this.#build();
  }

  get #machines(): readonly Machine[] {
    return [this.app, ...this.nodes];
  }

  #build(): void {
    const bridge = this.#bridge;
    ip(`netns add ${bridge}`);
    ip(`-n ${bridge} link add bridge type bridge`);
    ip(`-n ${bridge} link set bridge up`);
    for (const { name, address, namespace } of this.#machines) {
      ip(`netns add ${namespace}`);
      ip(`link add eth0 netns ${namespace} type veth peer name ${name} netns ${bridge}`);
      ip(`-n ${namespace} addr add ${address}/24 dev eth0`);
      ip(`-n ${namespace} link set lo up`);
      // Packets as a wire has them: otherwise the kernel passes many segments as one, which no rule of sizes could tell apart.
      ip(`-n ${namespace} link set eth0 gso_max_segs 1 up`);
      ip(`-n ${bridge} link set ${name} master bridge up`);
    }
    ip(`link add ${this.#port} type veth peer name test netns ${bridge}`);
    ip(`-n ${bridge} link set test master bridge up`);
    ip(`addr add ${this.#prefix}1/24 dev ${this.#port}`);
    ip(`link set ${this.#port} up`);
  }

  /** A file of `examples/cluster` with these addresses, this folder, and this node's own lines. */
  configure(file: string, folder: string, node = 0): string {
    return readFileSync(join(configurationFolder, file), 'utf8')
      .replace(/^.*# this node$/gm, (line) =>
        line.replaceAll('garden-a', nodeNames[node]!).replaceAll('10.0.0.11', `10.0.0.${11 + node}`),
      )
      .replaceAll('10.0.0.', this.#prefix)
      .replaceAll('/var/lib/plants', folder);
  }

  /** Any address of a machine, as MariaDB spells a user's host. */
  get anyHost(): string {
    return `${this.#prefix}%`;
  }

  /** From now on this machine drops these packets, and no others. */
  drop(machine: Machine, { from, ports, percent, aboveBytes }: Drops): void {
    const sources = from?.map(({ address }) => address).join(', ');
    const whence = sources ? `ip saddr { ${sources} } ` : '';
    const rules: string[] = [];
    if (ports) {
      const set = `{ ${ports.join(', ')} }`;
      rules.push(`${whence}tcp sport ${set} drop`, `${whence}tcp dport ${set} drop`);
    } else if (whence) {
      rules.push(`${whence}drop`);
    }
    if (percent) rules.push(`numgen random mod 100 < ${percent} drop`);
    if (aboveBytes) rules.push(`meta length > ${aboveBytes} drop`);
    const [command, ...args] = machine.enter('nft');
    const input = rulesetOf(['iifname "lo" accept', `ip saddr ${this.#prefix}1 accept`, ...rules]);
    execFileSync(command, [...args, '-f', '-'], { input });
  }

  /** Cuts these machines off from those, in both directions. */
  cut(some: readonly Machine[], others: readonly Machine[]): void {
    for (const machine of some) this.drop(machine, { from: others });
    for (const machine of others) this.drop(machine, { from: some });
  }

  /** The same for all machines. */
  dropEverywhere(drops: Drops): void {
    for (const machine of this.#machines) this.drop(machine, drops);
  }

  heal(): void {
    this.dropEverywhere({});
  }

  /** Removes the machines; what still runs on them is killed. */
  close(): void {
    for (const { namespace } of this.#machines) remove(namespace);
    // The test's own port ends with its other end.
    remove(this.#bridge);
  }
}

/** A table of nftables that replaces the one before. A machine loses no packets to itself, and none of the test's. */
const rulesetOf = (rules: readonly string[]): string => `table inet faults
delete table inet faults
table inet faults {
  chain input {
    type filter hook input priority 0; policy accept;
    ${rules.join('\n    ')}
  }
}
`;

let networks = 0;
const namespacePrefix = 'plants-';

function ip(command: string): string {
  return execFileSync('ip', command.split(' '), { encoding: 'utf8', stdio: 'pipe' });
}

function remove(namespace: string): void {
  for (const pid of ip(`netns pids ${namespace}`).split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  ip(`netns delete ${namespace}`);
}

/** Removes what earlier runs left that crashed: machines, what runs on them, and folders. */
export function removeLeftovers(): void {
  const ownerOf = (name: string) => new RegExp(`^${namespacePrefix}(\\d+)-`).exec(name)?.[1];
  const isLeft = (name: string) => ownerOf(name) !== undefined && !isRun(ownerOf(name)!);
  const namespaces = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  for (const namespace of namespaces.filter(isLeft)) remove(namespace);
  for (const name of readdirSync(tmpdir()).filter(isLeft)) {
    removeFolder(join(tmpdir(), name));
  }
}

/** Whether a run of these tests has this process: another program may have its number by now. */
function isRun(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('vitest');
  } catch {
    return false;
  }
}

/** Returns why there can be no machines here; an empty text if there can. */
export function networkObstacle(): string {
  const name = `${namespacePrefix}${process.pid}-trial`;
  const rules = rulesetOf(['numgen random mod 100 < 5 drop', 'meta length > 1200 drop']);
  const trial = `
ip netns add "$0"
trap 'ip netns delete "$0"' EXIT
ip -n "$0" link add bridge type bridge
ip -n "$0" link add eth0 type veth peer name eth1
nsenter --net=/run/netns/"$0" nft -f -`;
  const { status, stderr, error } = spawnSync('sh', ['-ec', trial, name], { input: rules, encoding: 'utf8' });
  return status === 0 ? '' : `no network namespaces: ${error?.message ?? stderr.trim()}`;
}
