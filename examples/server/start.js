// `npm start`. It says in one line what is missing, before a module that needs it is loaded.
const { node } = process.versions;

if (Number.parseInt(node, 10) < 20) fail(`requires Node 20 or later, found ${node}`);
await import('tsx').catch(() => fail('dependencies are missing: run npm ci'));
await import('./server.ts');

function fail(message) {
  console.error(`plant-store: ${message}`);
  process.exit(1);
}
