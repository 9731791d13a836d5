import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { waitFor } from '../../support/wait-for.js';
import { type Machine, Network, removeLeftovers } from './network.js';

/** Prints a line once it is bound, and another one for the first datagram. */
const receiver = `const socket = require('node:dgram').createSocket('udp4');
socket.bind(9999, () => console.log('bound'));
socket.once('message', () => { console.log('got'); socket.close(); });`;

/** Sends a datagram of so many bytes again and again. */
const sender = `const [address, bytes] = process.argv.slice(1);
const socket = require('node:dgram').createSocket('udp4');
setInterval(() => socket.send(Buffer.alloc(Number(bytes)), 9999, address), 20);`;

function node(machine: Machine, ...args: string[]) {
  const [command, ...entry] = machine.enter(process.execPath);
  return spawn(command, [...entry, '-e', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Whether a datagram arrives within this time. */
async function reaches(from: Machine, to: Machine, ms: number, bytes = 10): Promise<boolean> {
  const receiving = node(to, receiver);
  receiving.stdout.setEncoding('utf8');
  await once(receiving.stdout, 'data');
  const sending = node(from, sender, to.address, String(bytes));
  try {
    await once(receiving.stdout, 'data', { signal: AbortSignal.timeout(ms) });
    return true;
  } catch {
    return false;
  } finally {
    receiving.kill('SIGKILL');
    sending.kill('SIGKILL');
  }
}

const arrives = (from: Machine, to: Machine, bytes?: number) => reaches(from, to, 20_000, bytes);
// Long enough for a hundred datagrams.
const isLost = async (from: Machine, to: Machine, bytes?: number) => !(await reaches(from, to, 2_000, bytes));

describe.skipIf(inject('obstacle'))('the machines of the clusters', () => {
  let network: Network;
  beforeAll(() => {
    network = new Network();
  });
  afterAll(() => network?.close());

  it('reach each other until they are cut apart, and again after', async () => {
    const { app } = network;
    const [a, b, c] = network.nodes as [Machine, Machine, Machine];
    expect(await arrives(a, b)).toBe(true);
    network.cut([a], [b, c]);
    expect(await isLost(a, b)).toBe(true);
    expect(await isLost(c, a)).toBe(true);
    expect(await arrives(b, c)).toBe(true);
    expect(await arrives(app, a)).toBe(true);
    network.heal();
    expect(await arrives(a, b)).toBe(true);
  });

  it('can lose packets of one direction, or above a size', async () => {
    const [a, b, c] = network.nodes as [Machine, Machine, Machine];
    network.drop(b, { from: [a] });
    expect(await isLost(a, b)).toBe(true);
    expect(await arrives(b, a)).toBe(true);
    network.drop(b, { aboveBytes: 1_200 });
    expect(await isLost(c, b, 1_300)).toBe(true);
    expect(await arrives(c, b, 1_100)).toBe(true);
    network.heal();
  });

  it('of a run that crashed are removed by the next run, with what ran on them', async () => {
    // A process that has ended.
    const { pid } = spawnSync('true');
    const namespace = `plants-${pid}-1-garden-a`;
    const folder = mkdtempSync(join(tmpdir(), `plants-${pid}-`));
    execFileSync('ip', ['netns', 'add', namespace]);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
    const server = spawn('nsenter', [`--net=/run/netns/${namespace}`, 'sleep', 'infinity']);
    const ended = once(server, 'exit');
    await waitFor(() =>
      expect(execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' })).not.toBe(''),
    );
    removeLeftovers();
    await ended;
    expect(existsSync(`/run/netns/${namespace}`)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    // Those of this run stay.
    expect(existsSync(`/run/netns/${network.app.namespace}`)).toBe(true);
  });
});
