/** Runs the Worker whose file is the argument, in workerd. The next argument has further options, as JSON. */
import { readFileSync } from 'node:fs';
// @ts-expect-error: installed only for this test
import { Miniflare } from 'miniflare';

const [, , file, options = '{}'] = process.argv;
// As text, because workerd rejects a path outside the folder in which it starts.
const script = readFileSync(file!, 'utf8');
const worker = new Miniflare({
  modules: true,
  script,
  compatibilityDate: '2025-01-01',
  port: 0,
  ...JSON.parse(options),
});
console.log({ port: Number((await worker.ready).port) });
process.on('SIGTERM', () => worker.dispose().then(() => process.exit()));
