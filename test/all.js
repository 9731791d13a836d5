// `npm test`: lint and types side by side with the tests, which wait for sockets and timers half of the time.
import { spawn } from 'node:child_process';

const check = run('npm', ['run', '--silent', 'check'], ['ignore', 'pipe', 'pipe']);
const output = [];
for (const stream of [check.child.stdout, check.child.stderr]) stream.on('data', (text) => output.push(text));

const tests = run(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)],
  'inherit',
);
const codes = [await tests.exit, await check.exit];
// After the summary of the tests, so that it is seen.
if (codes[1] !== 0) process.stdout.write(`\nnpm run check failed:\n${Buffer.concat(output)}`);
process.exitCode = codes.find((code) => code !== 0) ?? 0;

function run(command, args, stdio) {
  // Both are scripts of a shell on Windows.
  const child = spawn(command, args, { stdio, shell: process.platform === 'win32' });
  const exit = new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  return { child, exit };
}
