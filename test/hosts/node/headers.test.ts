// Headers, request targets and expectations that only a raw socket can send.
import { createServer, type RequestListener } from 'node:http';
import type { VerifyToken } from 'plant-store';
import { expect, test } from 'vitest';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { chunk, lastChunk, raw } from '../../support/sockets.js';
import { errorOf, json, rose, roseCreated, start, token } from './server.js';

const invalid = 'Authorization: Bearer bad';

test.each<[what: string, outcome: number, line: string, headers?: readonly string[]]>([
  ['the same token twice', 40102, 'POST /plants HTTP/1.1', [token, token]],
  ['a valid token and an invalid token', 40102, 'POST /plants HTTP/1.1', [token, invalid]],
  ['two spellings of the header', 40102, 'POST /plants HTTP/1.1', ['AUTHORIZATION: Basic eDp5', token]],
  ['headers as long as it', 200, 'POST /plants HTTP/1.1', ['Cache-Control: x', token, 'If-None-Match: "x"']],
  ['the same Content-Type twice', 40005, 'POST /plants HTTP/1.1', [token, json]],
  ['two with parameters', 40005, 'POST /plants HTTP/1.1', [token, 'content-type: application/json;a=b']],
  ['two Content-Types', 40005, 'POST /plants HTTP/1.1', [token, 'content-type: text/plain']],
  ['white space around its value', 200, 'POST /plants HTTP/1.1', ['authorization: \t Bearer good \t']],
  ['HTTP/1.0', 200, 'POST /plants HTTP/1.0'],
  // The core reads targets: no parser of the host may change one before.
  ['absolute-form with a query', 200, 'POST http://[::1]:80/plants?x=/y HTTP/1.1'],
  // To Node's `url.parse`, and so to an app on Express or Koa, the path of these is another one.
  ['a host with a semicolon', 40401, 'POST http://a;b/plants HTTP/1.1'],
  ['a port that is no number', 40401, 'POST http://a:b/plants HTTP/1.1'],
  ['a scheme without hosts', 40401, 'POST javascript://x/plants HTTP/1.1'],
  ['a user', 40401, 'POST http://user@localhost/plants HTTP/1.1'],
  ['a query that holds slashes and question marks', 200, 'POST /plants?/plants?/ HTTP/1.1'],
  ['absolute-form of another path', 40401, 'POST http://localhost/plants/plants HTTP/1.1'],
  ['absolute-form without a path', 40401, 'POST http://localhost HTTP/1.1'],
  ['an authority named plants', 40401, 'POST http://plants HTTP/1.1'],
  ['a network-path reference', 40401, 'POST //localhost/plants HTTP/1.1'],
  ['dot segments', 40401, 'POST /x/../plants HTTP/1.1'],
  ['a dot segment', 40401, 'POST /./plants HTTP/1.1'],
  ['a percent-encoded letter', 40401, 'POST /%70lants HTTP/1.1'],
  ['asterisk-form', 40401, 'OPTIONS * HTTP/1.1'],
  ['GET with a body', 40501, 'GET /plants HTTP/1.1'],
  ['a method of WebDAV', 40501, 'PROPFIND /plants HTTP/1.1'],
])('a request with %s returns %i', async (_what, outcome, line, headers = [token]) => {
  const { open, plants } = await start();
  const wire = await open();
  await wire.write(raw([...headers, json], rose, { line }));
  const answer = await wire.answer();
  if (outcome === 200) expect(answer).toMatchObject(roseCreated);
  else expect(errorOf(answer)).toBe(outcome);
  expect(plants.size).toBe(outcome === 200 ? 1 : 0);
});

test.each([
  ['gzip, chunked', 'gzip, chunked'],
  ['x-coding,chunked', 'x-coding,chunked'],
])('a transfer coding that Node has not undone, %s, is 40005, which names it', async (coding, named) => {
  const { open, plants } = await start();
  const wire = await open();
  await wire.write(raw([token, json, `Transfer-Encoding: ${coding}`], `1d\r\n${rose}\r\n0\r\n\r\n`));
  const { status, text } = await wire.answer();
  expect([status, JSON.parse(text)]).toEqual([
    400,
    { error: 40005, message: expect.stringContaining(`The Transfer-Encoding is ${named}.`) },
  ]);
  expect(plants.size).toBe(0);
});

test('two Content-Types are 40005, which names both', async () => {
  const { open } = await start();
  const wire = await open();
  await wire.write(raw([token, json, 'content-type: text/plain'], rose));
  expect(JSON.parse((await wire.answer()).text).message).toContain(
    'The Content-Type is application/json,text/plain.',
  );
});

test("chunks count, and not a length beside them, which Node's lenient parser passes on", async () => {
  const { open, plants, calls } = await start({
    serve: (listener) => createServer({ insecureHTTPParser: true }, listener),
  });
  const wire = await open();
  const head = raw([token, json, `Content-Length: ${rose.length}`, 'Transfer-Encoding: chunked']);
  await wire.write(Buffer.concat([Buffer.from(head), chunk(rose)]));
  await calls.next();
  await wire.write(chunk('more'));
  await wire.write(lastChunk);
  expect(errorOf(await wire.answer())).toBe(40001);
  expect(plants.size).toBe(0);
});

test('the verifier gets one Authorization header as text, as Node has it', async () => {
  const seen: unknown[] = [];
  const verifyToken: VerifyToken<boolean> = (_token, { request: { headers } }) => {
    seen.push((headers as { authorization?: unknown }).authorization);
    return true;
  };
  const { open } = await start({ verifyToken });
  const wire = await open();
  await wire.write(raw(['AUTHORIZATION: Bearer good', json], rose));
  expect(await wire.answer()).toMatchObject(roseCreated);
  expect(seen).toEqual(['Bearer good']);
});

const expectation = 'Expect: 100-continue';
const length = `Content-Length: ${rose.length}`;
/** Like the demo server: the listener gets these requests too, and decides when to send the 100. */
const onCheck = (listener: RequestListener) => createServer(listener).on('checkContinue', listener);

test.each<[what: string, statuses: number[], headers: string[], serve?: typeof onCheck, early?: string]>([
  ['under a checkContinue listener', [100, 200], [token, json, expectation, length]],
  ['if Node sends it', [100, 200], [token, json, expectation, length], (listener) => createServer(listener)],
  ['in another letter case', [100, 200], [token, json, 'Expect: 100-Continue', length]],
  ['for a client that does not wait', [100, 200], [token, json, expectation, length], onCheck, rose],
  ['for a rejected token', [401], [invalid, json, expectation, length]],
  ['for one on a connection that closes', [401], [invalid, json, expectation, length, 'Connection: close']],
  ['for a declared length over the limit', [400], [token, json, expectation, `Content-Length: ${2 ** 21}`]],
  ['for another media type', [400], [token, 'Content-Type: text/plain', expectation, length]],
])(
  'Expect: 100-continue %s is responded to with %j',
  async (_what, statuses, headers, serve = onCheck, early) => {
    // The clock stands still: no response waits for a client that waits for it.
    fakeTimeouts();
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw(headers, early));
    for (const status of statuses) {
      expect((await wire.answer()).status).toBe(status);
      if (status === 100 && !early) await wire.write(rose);
    }
    expect(wire.rest).toBe('');
  },
);
