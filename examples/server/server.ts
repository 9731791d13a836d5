// The demo server: `npx plant-store`, and `npm start` in a clone.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toNode } from 'plant-store/node';
import { audit, planOf } from './audit.js';
import type { AuditOptions } from './audit-trial.js';
import { CliError, sentenceOf } from './cli-error.js';
import { command } from './command.js';
import { finder, freeId, freeIds, randomId } from './free-id.js';
import { filesOf, type InitOptions, nextSteps, writeNew } from './init.js';
import { openStorage } from './open-storage.js';
import { evaluationPage } from './page/page.js';
import { refuseHost, refuseInWords } from './refusals.js';
import { RequestLines } from './request-lines.js';
import { schemaOf } from './schema.js';
import { readArguments, readAuditOptions, readSettings, type Settings, usage } from './settings.js';
import { stopper } from './stop.js';

run(process.argv.slice(2)).catch((error) => {
  console.error(`plant-store: ${sentenceOf(error)}`);
  process.exit(1);
});

async function run(args: readonly string[]): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < 20)
    throw new CliError(`requires Node 20 or later, found ${process.versions.node}`);
  const { flags, command, words } = readArguments(args);
  if (flags.help) return console.log(usage);
  if (flags.version) return console.log(createRequire(import.meta.url)('plant-store/package.json').version);
  if (command === 'init') return init({ host: words[0], database: flags.database }, flags.write);
  if (command === 'schema') return console.log(schemaOf(words[0], flags));
  if (command === 'audit') return runAudit(readAuditOptions(flags, words[0], process.env), flags.yes);
  await serve(readSettings(flags, process.env));
}

function init(options: InitOptions, isWritten = false): void {
  const files = filesOf(options, process.cwd());
  const written = isWritten && writeNew(files, process.cwd());
  for (const [path, text] of Object.entries(files)) {
    const mark = path.endsWith('.sql') ? '--' : '//';
    if (!written) console.log(`${mark} ${path}\n${text}`);
    else console.log(written.includes(path) ? `wrote ${path}` : `left ${path} as it is`);
  }
  // To the other stream, so that the first can be redirected.
  console.error(`${isWritten ? '\n' : ''}${nextSteps(files, options)}`);
}

async function runAudit(options: AuditOptions, isAgreed = false): Promise<void> {
  console.log(`${planOf(options)}\n`);
  if (!isAgreed) throw new CliError(`to create these plants, add --yes --ids ${options.ids}`);
  if (!(await audit(options, console.log))) process.exitCode = 1;
}

async function serve(settings: Settings): Promise<void> {
  const { host, port, portSetting, bodyLimit, timeoutMs, token, publicToken, isQuiet } = settings;
  const { storage, place, close } = await openStorage(settings.database, settings.databaseSetting);
  const lines = new RequestLines(console.log);
  const handle = createPlantStore(storage, acceptTokens(token), { bodyLimit, timeoutMs });
  const mount = toNode(lines.noting(handle));
  const find = finder(storage);
  const curlId = (await freeId(find)) ?? randomId();
  // The page never offers the id of the printed curl, so that both work, in either order.
  const page = evaluationPage({
    token: publicToken,
    // The name of a database's host is nobody's business once other machines can open the page.
    place: publicToken && place,
    freeId: freeIds(async (id) => id === curlId || find(id), curlId + 1n),
  });
  const rules = { loopbackOnly: publicToken !== undefined };
  const unlessRefused =
    (next: (request: IncomingMessage, response: ServerResponse) => unknown) =>
    (request: IncomingMessage, response: ServerResponse) =>
      refuseHost(request, response, rules) || next(request, response);
  const server = createServer(
    // Node looks for late requests every 30 s by default, and rejects one without a Host with an empty body.
    { connectionsCheckingInterval: 2_000, requireHostHeader: false },
    unlessRefused((request, response) => page(request, response, () => mount(request, response))),
  );
  // The reader of the body sends the 100 once it wants it: a refused upload is never sent.
  server.on('checkContinue', unlessRefused(mount));
  refuseInWords(server);
  // After the library's own deadline, so that a stalled upload gets the library's answer.
  server.requestTimeout = timeoutMs && timeoutMs + 5_000;
  server.headersTimeout = Math.min(10_000, server.requestTimeout || 10_000);

  const stop = stopper(server);
  if (!isQuiet) lines.listen(server);

  // Connections that come at once wait here: one that finds no room tries again only a second later.
  server.listen({ port, host, backlog: 4_096 });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE'
      ? new CliError(`port ${port} is already in use: set ${portSetting} to a free one (0 picks one)`)
      : error;
  });
  // A second signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await stop();
      await close();
      console.log(`plant-store stopped. Plants: ${place}`);
      process.exit(0);
    });
  }
  announce(server.address() as AddressInfo, place, curlId, publicToken);
}

function announce({ address, port, family }: AddressInfo, place: string, id: bigint, token?: string): void {
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  console.log(`plant-store demo server on ${url} (Ctrl+C stops it)
  Endpoint  POST ${url}/plants
  Token     ${token ?? '(set by TOKEN, not shown)'}
  Storage   ${place}

Open ${url} in a browser, or run in another terminal:
  ${command(process.platform, url, id, token)}
`);
}
