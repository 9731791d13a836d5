// `plant-store audit`, against endpoints that are right, and that are wrong in the usual ways.
import { createServer, type RequestListener } from 'node:http';
import express, { type Express } from 'express';
import {
  acceptTokens,
  createPlantStore,
  InsufficientScope,
  type NewPlant,
  type PlantStorage,
} from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { audit } from '../../examples/server/audit.js';
import { neededIds } from '../../examples/server/audit-ids.js';
import { readAuditOptions } from '../../examples/server/settings.js';
import { freePort } from '../support/program.js';
import { listen } from '../support/sockets.js';
import { startDemo } from './demo.js';
import { expressByHand, nestByHand, rightInPython } from './foreign-endpoints.js';

/** Runs an audit, and returns what it printed, and the cases that failed. */
async function auditOf(url: string, forbiddenToken?: string, strict = true) {
  const lines: string[] = [];
  const options = { url, token: 'secret', forbiddenToken, ids: '123456789', strict };
  const isRight = await audit(options, (text) => lines.push(text));
  const failed = lines.flatMap((line) => /^FAIL {2}([\w-]+):/.exec(line)?.[1] ?? []);
  expect(isRight).toBe(failed.length === 0);
  return { text: lines.join('\n'), failed };
}

async function serve(app: RequestListener) {
  const { url, close } = await listen(createServer(app));
  onTestFinished(close);
  return url;
}

/** An Express app that is not only a plant-store. */
async function serveApp(prepare: (app: Express) => void, storage: PlantStorage = memoryStorage()) {
  const app = express();
  prepare(app);
  const options = { onError: () => {} };
  app.use('/api', toExpress(createPlantStore(storage, acceptTokens('secret'), options)));
  return `${await serve(app)}/api`;
}

describe('an audit of an endpoint that is right', () => {
  it('passes, also for the second time, and creates no plant but the ones that it names', async () => {
    const plants = new Map<bigint, NewPlant>();
    const verifyToken = (token: string) => {
      if (token === 'reader') throw new InsufficientScope('plants:write');
      return token === 'secret';
    };
    const url = await serve(toNode(createPlantStore(memoryStorage(plants), verifyToken)));
    const first = await auditOf(url, 'reader');
    expect(first).toMatchObject({ failed: [], text: expect.stringMatching(/^(\d+) of \1 cases passed\.$/m) });
    for (const id of ['id-int64-max', 'method-get', 'scope-forbidden', 'upload-broken'])
      expect(first.text).toContain(`ok    ${id}:`);
    const others = [...plants.keys()].filter((id) => !neededIds.includes(id));
    expect(others.length).toBeGreaterThan(30);
    for (const id of others) expect(String(id)).toMatch(/^-?123456789\d{4,7}$/);
    // As if it had other ids: those that every audit needs exist now.
    for (const id of others) plants.delete(id);
    expect(await auditOf(url, 'reader')).toMatchObject({ failed: [] });
  });
});

it('an audit passes with acceptReplays, which it asks for, and strictly', async () => {
  const handle = createPlantStore(memoryStorage(), acceptTokens('secret'), { acceptReplays: true });
  const { text, failed } = await auditOf(await serve(toNode(handle)));
  expect(failed).toEqual([]);
  expect(text).toMatch(
    /^An identical plant returned 200 again, .* id-taken and id-taken-beyond-2-53 were left out\.$/m,
  );
  expect(text).toContain('ok    id-taken-other-plant:');
});

it('an audit sends the Origin of the URL, as SvelteKit and Astro ask for it', async () => {
  const checksOrigin = (app: Express) =>
    app.use(({ headers }, response, next) => {
      if (headers['content-type'] === 'application/json' || headers.origin === `http://${headers.host}`)
        return next();
      response.status(403).send('Cross-site POST form submissions are forbidden');
    });
  expect((await auditOf(await serveApp(checksOrigin))).failed).toEqual([]);
});

describe('an audit fails, and names the page to read,', () => {
  it('behind express.json(), for ids that are rounded, and for a body that the parser rejects', async () => {
    const { text, failed } = await auditOf(await serveApp((app) => app.use(express.json({ limit: '9mb' }))));
    expect(failed).toEqual(expect.arrayContaining(['neighbours-beyond-2-53', 'json-truncated', 'twice-id']));
    expect(failed).not.toContain('create-with-tag');
    expect(text).toMatch(
      /^FAIL {2}id-int64-max: .*\n {8}received {2}500 application\/json \{"error":50003,.*\n {8}contract {2}status is 500, and must be 200.*\n {8}read {6}adapters\/hosts\/README.md, Behind a body parser$/m,
    );
  });

  it('behind a proxy that rejects large bodies by itself, and for a storage that takes one id twice', async () => {
    const small = (app: Express) =>
      app.use((request, response, next) => {
        if (Number(request.headers['content-length']) <= 1_048_576) return next();
        response.status(413).send('<h1>413 Request Entity Too Large</h1>');
      });
    const { text, failed } = await auditOf(await serveApp(small, { create: async () => 'created' }));
    const large = ['order-length', 'order-type', 'size-double', 'size-one-over'];
    const taken = ['id-taken', 'id-taken-other-plant', 'id-taken-other-spelling', 'id-taken-beyond-2-53'];
    expect(failed.sort()).toEqual([...large, ...taken].sort());
    expect(text.match(/read {6}adapters\/hosts\/README.md, Behind a proxy, and/gm)).toHaveLength(4);
    // 404 and 405 are the app's, which is around it.
    expect(text).not.toMatch(/(path|method)-/);
    expect(text).toContain('cases of 404 and 405 were left out');
  });
});

describe('an audit of an endpoint that is not plant-store', () => {
  // What else a response may have, core/host-cases.test.ts shows case by case.
  it('passes in the style of Python, with json.dumps and print, and stops at once with --strict', async () => {
    const url = await serve(rightInPython());
    expect(await auditOf(url, undefined, false)).toMatchObject({ failed: [] });
    await expect(auditOf(url)).rejects.toThrow(
      /^POST \S+ without a token must return 401 and the error 40101, and returned 401 /,
    );
  });

  it.each([
    ['Express', expressByHand],
    ['the style of Nest', nestByHand],
  ])('by hand in %s tells its faults by their causes', async (_, app) => {
    const { text, failed } = await auditOf(await serve(app()), undefined, false);
    const causes = text.split('\n').filter((line) => /: \d+ cases?$/.test(line));
    expect(causes).toEqual(
      expect.arrayContaining([
        'what must be a 400 is a 422: 34 cases',
        'a member that is given twice is accepted: 12 cases',
        'an Error is not { error: int32, message: string } as application/json: 26 cases',
      ]),
    );
    expect(text).toMatch(/^ids beyond 2\^53 are rounded or rejected: \d+ cases$/m);
    const sum = causes.reduce((sum, line) => sum + Number(/(\d+) cases?$/.exec(line)![1]), 0);
    expect(sum).toBe(failed.length);
  });
});

describe('an audit creates nothing and ends with one line', () => {
  const handle = createPlantStore(
    { create: () => Promise.reject(new Error('no create may come')) },
    acceptTokens('secret'),
    { basePath: '/api', onError: (error) => expect.fail(String(error)) },
  );

  it.each([
    [
      'for a server that is no plant-store',
      express(),
      '',
      /^POST \S+\/plants without a token must return 401 and the error 40101, and returned 404 text\/html/,
    ],
    [
      'behind a redirect, whose query it does not print',
      express().use((_request, response) => response.redirect(308, '/plants/?key=secret')),
      '',
      /^POST \S+\/plants returned 308 to \/plants\/ .*follows no redirect.*hosts\/README\.md, Redirects and origin checks$/,
    ],
    ['without the base path', toNode(handle), '', /Not found\. Use POST \/api\/plants\..*Where to mount$/],
    [
      'with a base path that has /plants',
      toNode(handle),
      '/api/plants',
      /The URL to audit is the part before/,
    ],
  ])('%s', async (_, server, path, message) => {
    await expect(auditOf((await serve(server)) + path)).rejects.toThrow(message);
  });

  it('with a token that is not accepted, and for an address where nobody listens', async () => {
    const options = { token: 'wrong', forbiddenToken: undefined, ids: '123456789', strict: true };
    const url = await serve(toNode(handle));
    const rejected =
      /^POST \S+\/api\/plants with the token, .*returned 401 .*40102.*\. Read README.md, Authentication$/;
    await expect(audit({ ...options, url: `${url}/api` }, () => {})).rejects.toThrow(rejected);
    // Of the ports that the system gives to nobody: another test would soon have one of the others.
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const checked = await serve(
      express().use(({ headers }, response) =>
        headers.authorization ? response.status(403).send('Cross-site POST') : response.sendStatus(401),
      ),
    );
    await expect(audit({ ...options, strict: false, url: checked }, () => {})).rejects.toThrow(
      /must return 400 or 415, and returned 403 text\/html; charset=utf-8 Cross-site POST\. Read \S+, Redirects and origin checks$/,
    );
    const refused = /^no response from http:\/\/127\.0\.0\.1:\d+\/plants: .*ECONNREFUSED/;
    await expect(audit({ ...options, url: nobody }, () => {})).rejects.toThrow(refused);
  });
});

describe('plant-store audit', () => {
  const run = (args: readonly string[], env = {}) => startDemo(['audit', ...args], env);

  it('prints the ids that it will create, and asks for --yes before it sends anything', async () => {
    const program = run(['http://127.0.0.1:1/api/', '--token', 'secret', '--ids', '123456789']);
    expect(await program.exit).toBe(1);
    expect(program.output()).toMatch(
      /^The audit sends about 200 requests to http:\/\/127\.0\.0\.1:1\/api\/plants and creates plants .*\n {2}ids that begin with 123456789, from 1234567890001 to 1234567899999999 .*\n {2}0, 9007199254740991, .*\n\nplant-store: to create these plants, add --yes --ids 123456789\n$/,
    );
  });

  it.each([
    [{ token: 'x' }, undefined, 'audit requires the URL before /plants'],
    [{ token: 'x' }, 'plants.example', 'audit requires the URL before /plants'],
    [{}, 'http://127.0.0.1:1', 'audit requires --token'],
    [{ token: 'x', ids: '1' }, 'http://127.0.0.1:1', '--ids must be nine digits, got "1"'],
  ])('rejects the options %j of the URL %s', (flags, url, message) => {
    expect(() => readAuditOptions(flags, url, {})).toThrow(message);
  });

  it('exits with 0 if all cases pass, and with 1 if one differs', async () => {
    const right = await serve(toNode(createPlantStore(memoryStorage(), acceptTokens('secret'))));
    const wrong = await serveApp((app) => app.use(express.json()));
    const passed = run([right, '--yes'], { TOKEN: 'secret' });
    const differing = run([wrong, '--token', 'secret', '--yes']);
    expect([await passed.exit, await differing.exit]).toEqual([0, 1]);
    expect(passed.output()).not.toContain('secret');
    expect(differing.output()).toMatch(/^\d+ of \d+ cases passed\.$/m);
  });
});
