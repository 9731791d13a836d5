/** Runs the Worker whose file is the argument, in workerd. */
import { readFileSync } from 'node:fs';
// @ts-expect-error: fetched for this test alone
import { Miniflare } from 'miniflare';

// As text, for workerd refuses a path outside of the folder that it starts in.
const script = readFileSync(process.argv[2]!, 'utf8');
const worker = new Miniflare({ modules: true, script, compatibilityDate: '2025-01-01', port: 0 });
console.log({ port: Number((await worker.ready).port) });
process.on('SIGTERM', () => worker.dispose().then(() => process.exit()));
