/** Runs the function whose file is the argument on Vercel's own dev server. */
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';

const file = process.argv[2]!;
const { startDevServer } = createRequire(file)('@vercel/node');
const { port, pid } = await startDevServer({
  entrypoint: basename(file),
  workPath: dirname(file),
  config: {},
  files: {},
  meta: {},
});
console.log({ port });
process.on('SIGTERM', () => {
  process.kill(pid);
  process.exit();
});
