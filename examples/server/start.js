// `npm start`. It says in one line what is missing, before a module that needs it is loaded.
const { versions } = process;

if (Number.parseInt(versions.node, 10) < 20)
  fail(`needs Node 20 or newer, and this is Node ${versions.node}`);
await import('tsx').catch(() => fail('npm start needs the development dependencies: run npm ci'));
await import('./server.ts');

function fail(message) {
  console.error(`plant-store: ${message}`);
  process.exit(1);
}
