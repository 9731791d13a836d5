// The page of the demo server, as it is sent. What a browser makes of it is in page.heavy.ts.
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { errorNumbers } from 'plant-store';
import type { OpenApiDocument } from 'plant-store/openapi';
import { describe, expect, it } from 'vitest';
import { servePage } from './serve-page.js';

describe('the page', () => {
  it('is under 25 kB in all: one response and an icon', async () => {
    const url = await servePage();
    const html = await (await fetch(url)).text();
    const others = [...html.matchAll(/(?:src|href)="(?!#)([^"]+)"/g)].map(([, link]) => link);
    expect(new Set(others)).toEqual(
      new Set(['/favicon.ico', '/openapi.json', 'https://www.npmjs.com/package/plant-store']),
    );
    const icon = await (await fetch(`${url}/favicon.ico`)).text();
    expect(Buffer.byteLength(html) + Buffer.byteLength(icon)).toBeLessThan(25_000);
  });

  it('is compressed for a client that accepts gzip, and sent as it is to one that does not', async () => {
    const url = await servePage();
    const { headers } = await fetch(url, { headers: { 'accept-encoding': 'gzip, br' } });
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toMatch(/^<!DOCTYPE html>/);
    expect(await (await fetch(url)).text()).toMatch(/^<!DOCTYPE html>/);
  });

  it('shows every error number under a link of its own, and every member of every schema', async () => {
    const url = await servePage();
    const html = await (await fetch(url)).text();
    for (const [name, error] of Object.entries(errorNumbers)) {
      expect(html).toContain(`<tr id="e${error}">`);
      expect(html).toContain(`<a href="#e${error}">${error}</a> <code>${name}</code>`);
    }
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    for (const name of Object.keys(document.components.schemas)) expect(html).toContain(`<h3>${name}</h3>`);
    const [, newPlant = ''] = /id="NewPlant">([\s\S]*?)<\/article>/.exec(html) ?? [];
    const members = [...newPlant.matchAll(/<dt><code>(\w+)<\/code> <small>([^<]+)/g)];
    expect(Object.fromEntries(members.map(([, name, type]) => [name, type]))).toEqual({
      id: 'integer · int64',
      name: 'string',
      tag: 'string · optional',
    });
  });

  it('has a description, a caption for each table, and says what the password field is', async () => {
    const html = await (await fetch(await servePage({ token: undefined }))).text();
    expect(html).toMatch(/<meta name="description" content="[^"]{10,}">/);
    expect(html.match(/<caption>/g)).toHaveLength(html.match(/<table>/g)!.length);
    expect(html).toContain('type="password" autocomplete="current-password"');
  });

  it('allows only its own style and script, by their hashes, and no other host', async () => {
    const response = await fetch(await servePage());
    const html = await response.text();
    const hashes = [/<style>([\s\S]*?)<\/style>/, /<script type="module">([\s\S]*?)<\/script>/].map(
      (pattern) => `'sha256-${createHash('sha256').update(pattern.exec(html)![1]!).digest('base64')}'`,
    );
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src ${hashes[1]}; style-src ${hashes[0]}; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('escapes a Host header', async () => {
    const url = await servePage();
    const sent = request(url, { headers: { host: '"><script>alert(1)</script>' } }).end();
    const html = await new Promise<string>((resolve) => sent.on('response', (got) => resolve(text(got))));
    expect(html).not.toContain('alert(1)');
    expect(html).toContain('curl -i http://127.0.0.1:3000/plants');
  });

  it.each<[string, () => Promise<bigint>]>([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['does not settle', () => new Promise(() => {})],
  ])('is shown with a random id if the storage %s', async (_, freeId) => {
    const response = await fetch(await servePage({ freeId }));
    const offered = response.headers.get('free-id');
    expect(Number(offered)).toBeGreaterThan(1_000);
    expect(await response.text()).toContain(`<input type="text" id="id" value="${offered}"`);
  });

  it('sends the free id in response to HEAD, and passes every other method but GET to plant-store', async () => {
    const url = await servePage();
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.headers.get('free-id')).toBe('2');
    expect(await head.text()).toBe('');
    expect(await (await fetch(url, { method: 'POST' })).json()).toMatchObject({ error: 40401 });
    expect(await (await fetch(`${url}/other`)).json()).toMatchObject({ error: 40401 });
  });
});
