import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { bundleOf } from './bundle.js';
import { examples } from './examples.js';
import { root } from './root.js';

/** A program of `examples/` while it runs. */
export interface Program {
  readonly child: ChildProcess;
  /** Everything that it has printed so far. */
  output(): string;
  /** Resolves with the match as soon as the output matches; rejects if the program ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code. */
  readonly exit: Promise<number | null>;
}

/** Starts the program of `examples/` that has this name, bundled, with these settings in its environment, under a tracer if given. */
export function startExample(
  name: string,
  env: Record<string, string> = {},
  tracer: readonly string[] = [],
): Program {
  return startProgram([...tracer, process.execPath, bundleOf(examples.get(name)!)], env);
}

/** Starts an example for as long as the test runs. */
export function runExample(name: string, env: Record<string, string> = {}): Program {
  return untilTestEnds(startExample(name, env));
}

/** Kills a program when the test ends. */
export function untilTestEnds(program: Program): Program {
  onTestFinished(async () => {
    program.child.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

/** Pastes a command into a shell, and returns what it prints to its standard output. */
export async function paste(command: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, ...env } });
  return stdout;
}

/** The port that a program listens on. Each program prints it. */
export async function portOf(program: Program): Promise<number> {
  const [, port] = await program.printed(/(?:port: |localhost:|127\.0\.0\.1:)(\d+)/);
  return Number(port);
}

export async function urlOf(program: Program): Promise<string> {
  return `http://127.0.0.1:${await portOf(program)}`;
}

/** A free port below those that the system gives to others. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer().listen(port);
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Starts a program, on a free port if it asks for `PORT`. */
export function startProgram(
  commandLine: readonly string[],
  env: Record<string, string> = {},
  cwd = root,
): Program {
  const [command, ...args] = commandLine;
  const child = spawn(command!, args, {
    cwd,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exit = once(child, 'close').then(([code]) => code as number | null);
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    output += text;
  });
  return {
    child,
    exit,
    output: () => output,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match) resolve(match);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        exit.then(() =>
          reject(new Error(`${commandLine.at(-1)} ended before it printed ${pattern}:\n${output}`)),
        );
        look();
      }),
  };
}
