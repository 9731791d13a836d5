// After SIGKILL the kernel still writes its cache to disk, after a power cut it does not. So strace counts the syncs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Creators } from '../support/creators.js';
import { describeUnless } from '../support/obstacle.js';
import { portOf, startExample } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';

const folder = newFolder();

// -D makes strace a grandchild, so that the child is the server itself and can be stopped.
const strace = ['strace', '-D', '-f', '-s', '2000', '-e', 'trace=read,write,writev,fsync,fdatasync', '-o'];
const works = spawnSync(strace[0]!, [...strace.slice(1), '/dev/null', 'true']).status === 0;
const obstacle = works ? undefined : 'strace counts the syncs, and is not installed or not allowed here';

describeUnless(obstacle, 'between a create and its 200', () => {
  it.each([
    ['FULL', 'there is a sync', true],
    ['NORMAL', 'there is none', false],
    ['OFF', 'there is none', false],
  ])('at synchronous=%s, %s', async (synchronous, _, synced) => {
    const calls = await traced(synchronous);
    const plants = [...calls.matchAll(/ write.*HTTP\/1\.1 200 .*\\"name\\":\\"plant (\d+)\\"/g)].map(
      ([, id]) => id,
    );
    expect(plants).toHaveLength(40);
    const unsynced = plants.filter((id) => !isSynced(calls.split('\n'), id!));
    expect(unsynced).toEqual(synced ? [] : plants);
  });
});

/** Whether a sync ended between the read of a plant's create and the write of its answer. */
function isSynced(calls: readonly string[], id: string): boolean {
  const plant = `\\"name\\":\\"plant ${id}\\"`;
  const created = calls.findIndex((call) => call.includes('POST /plants') && call.includes(plant));
  const answered = calls.findIndex((call) => call.includes('HTTP/1.1 200') && call.includes(plant));
  expect(created).toBeGreaterThan(-1);
  expect(answered).toBeGreaterThan(created);
  return calls.slice(created, answered).some((call) => /\bf(data)?sync( resumed>|\(\d).*= 0/.test(call));
}

/** The calls that a server makes while 8 clients create 5 plants each. */
async function traced(synchronous: string): Promise<string> {
  const log = join(folder, `${synchronous}.strace`);
  const preload = fileURLToPath(new URL('synchronous.mjs', import.meta.url));
  const env = {
    DATABASE_URL: `file:${join(folder, `${synchronous}.db`)}`,
    SYNCHRONOUS: synchronous,
    NODE_OPTIONS: `--import=${preload}`,
  };
  const program = startExample('server', env, [...strace, log]);
  try {
    const creators = new Creators(await portOf(program));
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 8 }, (_, i) => round * 8 + i + 1);
      const answers = await Promise.all(ids.map((id) => creators.create(id)));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    }
    await creators.stop();
  } finally {
    program.child.kill('SIGTERM');
    await program.exit;
  }
  const end = new RegExp(`^${program.child.pid} .*exited with`, 'm');
  for (;;) {
    const calls = readFileSync(log, 'utf8');
    if (end.test(calls)) return calls;
    await sleep(10);
  }
}
