/** `npx tsx test/programs/bench/profile.ts`: where the time of `toNode` under load goes, by V8's CPU profiler. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildChild } from './build.js';
import { Clients } from './load.js';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The functions that a share begins at; what they call of ours or of valibot is theirs, unless it begins one itself. */
const shares: Record<string, readonly string[]> = {
  'body reading': ['readBody', 'wholeBody', 'readStream', 'checkBodyHeaders'],
  token: ['bearerToken', 'equalInConstantTime', 'accepted'],
  decode: ['textOf'],
  parse: ['parseMembers'],
  schema: ['fromText', 'checked', 'safeParse'],
  storage: ['create'],
  answer: ['send'],
};
const nodeItself = 'node:http and the kernel';
const theRest = 'the way between (handle, request, deadline)';

const { child } = await buildChild();
const folder = mkdtempSync(join(tmpdir(), 'plants-profile-'));
const server = fork(child, ['hosts/toNode'], { execArgv: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
const [{ ports }] = (await once(server, 'message')) as [{ ports: [number] }];
const clients = await Clients.connect(ports[0], 64);
const { operations } = await clients.run(10_000);
clients.close();
server.disconnect();
await once(server, 'exit');

const profile: Profile = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8'));
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map(
  profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
);
const times = new Map<string, number>();
let busy = 0;
for (const [id, time] of selfTimes(profile)) {
  const share = shareOf(id);
  if (share === undefined) continue;
  busy += time;
  times.set(share, (times.get(share) ?? 0) + time);
}
console.log(`${operations} requests\n\n| share | of the time |\n| --- | --- |`);
for (const [share, time] of [...times].sort(([, a], [, b]) => b - a)) {
  console.log(`| ${share} | ${((100 * time) / busy).toFixed(1)} % |`);
}
rmSync(folder, { recursive: true });
rmSync(dirname(child), { recursive: true });

/** Microseconds by node of the call tree. */
function selfTimes({ samples, timeDeltas }: Profile): Map<number, number> {
  const self = new Map<number, number>();
  samples.forEach((id, i) => {
    self.set(id, (self.get(id) ?? 0) + timeDeltas[i]!);
  });
  return self;
}

/** Whose time a node's is; nobody's while idle. */
function shareOf(id: number): string | undefined {
  const { functionName, url } = nodes.get(id)!.callFrame;
  if (functionName === '(idle)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage collection';
  // Native functions have no address; those of RegExp belong to who asked, the others, writev for one, to Node.
  if (!url.startsWith('file:') && !functionName.startsWith('RegExp:') && functionName !== 'decodeUTF8')
    return nodeItself;
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const name = nodes.get(at)!.callFrame.functionName;
    const share = Object.entries(shares).find(([, functions]) => functions.includes(name));
    if (share) return share[0];
  }
  return theRest;
}
