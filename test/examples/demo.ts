/** The demo server as a process: its command line, its environment, what it prints. */
import { bundleOf } from '../support/bundle.js';
import { type Program, startProgram, untilTestEnds } from '../support/program.js';

const bundle = () => [process.execPath, bundleOf('examples/server/server.ts')];

/** Starts `plant-store` with these arguments in a folder, until the test ends. */
export function startDemo(
  args: readonly string[],
  env: Record<string, string> = {},
  folder?: string,
): Program {
  return untilTestEnds(startProgram([...bundle(), ...args], env, folder));
}
