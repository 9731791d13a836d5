/** Runs the Worker whose file is the argument, in workerd. */
import { readFileSync } from 'node:fs';
// @ts-expect-error: installed only for this test
import { Miniflare } from 'miniflare';

// As text, because workerd rejects a path outside the folder in which it starts.
const script = readFileSync(process.argv[2]!, 'utf8');
const worker = new Miniflare({ modules: true, script, compatibilityDate: '2025-01-01', port: 0 });
console.log({ port: Number((await worker.ready).port) });
process.on('SIGTERM', () => worker.dispose().then(() => process.exit()));
