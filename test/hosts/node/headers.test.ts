// Headers, request targets and expectations that only a raw socket can send.
import { createServer, type RequestListener } from 'node:http';
import type { VerifyToken } from 'plant-store';
import { describe, expect, test } from 'vitest';
import { raw } from '../../support/sockets.js';
import { errorOf, json, rose, roseCreated, start, token } from './server.js';

describe('headers and targets that only a raw socket can send', () => {
  test.each([
    ['the same token twice', [token, token]],
    ['a valid token and an invalid token', [token, 'Authorization: Bearer bad']],
    ['two spellings of the name', ['AUTHORIZATION: Basic eDp5', 'authorization: Bearer good']],
  ])('two Authorization headers are token_invalid: %s', async (_what, headers) => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([...headers, json], rose));
    const answer = await wire.answer();
    expect(errorOf(answer)).toBe(40102);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="plants", error="invalid_token"');
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

  test('a header whose name is as long as Authorization is no second token', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw(['Cache-Control: no-cache', token, 'If-None-Match: "x"', json], rose));
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('white space around a header value is not part of it', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw(['Authorization: \t Bearer good \t', 'content-type:application/json'], rose));
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test.each([
    ['absolute-form', 'POST http://localhost/plants HTTP/1.1', 200],
    ['absolute-form with a query', 'POST http://user@[::1]:80/plants?x=/y HTTP/1.1', 200],
    ['origin-form with a query', 'POST /plants?a=b&c HTTP/1.1', 200],
    ['a query that holds slashes and question marks', 'POST /plants?/plants?/ HTTP/1.1', 200],
    ['absolute-form of another path', 'POST http://localhost/plants/plants HTTP/1.1', 404],
    ['absolute-form without a path', 'POST http://localhost HTTP/1.1', 404],
    ['an authority named plants', 'POST http://plants HTTP/1.1', 404],
    ['a network-path reference', 'POST //localhost/plants HTTP/1.1', 404],
    ['dot segments', 'POST /x/../plants HTTP/1.1', 404],
    ['a dot segment', 'POST /./plants HTTP/1.1', 404],
    ['a slash at the end', 'POST /plants/ HTTP/1.1', 404],
    ['two slashes', 'POST //plants HTTP/1.1', 404],
    ['another case', 'POST /Plants HTTP/1.1', 404],
    ['a longer name', 'POST /plantsX HTTP/1.1', 404],
    ['a percent-encoded letter', 'POST /%70lants HTTP/1.1', 404],
    ['asterisk-form', 'OPTIONS * HTTP/1.1', 404],
    ['OPTIONS', 'OPTIONS /plants HTTP/1.1', 405],
    ['GET with a body', 'GET /plants HTTP/1.1', 405],
    ['a method of WebDAV', 'PROPFIND /plants HTTP/1.1', 405],
  ])('a target is matched exactly: with %s, %s returns %i', async (_what, line, status) => {
    const { open, plants } = await start();
    const wire = await open();
    await wire.write(raw([token, json], rose, { line }));
    expect((await wire.answer()).status).toBe(status);
    expect(plants.size).toBe(status === 200 ? 1 : 0);
  });

  test('a response to HEAD has no body, so that the next response is not taken for it', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw([], '', { line: 'HEAD /plants HTTP/1.1' }) + raw([token, json], rose));
    expect((await wire.answer({ bodyless: true })).status).toBe(405);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('a request on HTTP/1.0 gets its response, then the connection is closed', async () => {
    const { open } = await start();
    const wire = await open();
    await wire.write(raw([token, json], rose, { line: 'POST /plants HTTP/1.0' }));
    expect(await wire.answer()).toMatchObject(roseCreated);
    await wire.closed;
  });
});

describe('Expect: 100-continue', () => {
  const expectation = 'Expect: 100-continue';
  /** Like the demo server: the listener gets these requests too, and decides when to send the 100. */
  const serve = (listener: RequestListener) => createServer(listener).on('checkContinue', listener);

  test.each([
    ['under a checkContinue listener', serve],
    ['if Node sends it', (listener: RequestListener) => createServer(listener)],
  ])('exactly one 100 is sent %s', async (_where, how) => {
    const { open } = await start({ serve: how });
    const wire = await open();
    await wire.write(raw([token, json, expectation, `Content-Length: ${rose.length}`]));
    expect((await wire.answer()).status).toBe(100);
    await wire.write(rose);
    expect(await wire.answer()).toMatchObject(roseCreated);
    expect(wire.rest).toBe('');
  });

  test.each([
    ['for a rejected token', ['Authorization: Bearer bad', json, 'Content-Length: 10'], 401],
    ['for a declared length over the limit', [token, json, `Content-Length: ${2 ** 20 + 1}`], 400],
    ['for another media type', [token, 'Content-Type: text/plain', 'Content-Length: 10'], 400],
  ])('no 100 is sent %s', async (_what, headers, status) => {
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw([...headers, expectation]));
    expect((await wire.answer()).status).toBe(status);
  });

  test('its letter case does not count', async () => {
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw([token, json, 'Expect: 100-Continue', `Content-Length: ${rose.length}`]));
    expect((await wire.answer()).status).toBe(100);
    await wire.write(rose);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });

  test('a client that does not wait for the 100 gets its response too', async () => {
    const { open } = await start({ serve });
    const wire = await open();
    await wire.write(raw([token, json, expectation], rose));
    expect((await wire.answer()).status).toBe(100);
    expect(await wire.answer()).toMatchObject(roseCreated);
  });
});
