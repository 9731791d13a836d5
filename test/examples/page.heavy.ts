// The page of the demo server, as people use it: in a real Chromium.
import { build } from 'esbuild';
import { errorNumbers } from 'plant-store';
import { createPlantClient } from 'plant-store/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { chromiumPath, withoutChromium } from '../support/chromium.js';
import { deferred } from '../support/deferred.js';
import { type Any, load } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { paste, runExample, urlOf } from '../support/program.js';
import { root } from '../support/root.js';
import { waitFor } from '../support/wait-for.js';
import { servePage } from './serve-page.js';

type Page = Any;

const { chromium } = await load('playwright-core');
const { source: axe } = (await load('axe-core')).default;
let browser: Any;

/** A page, what must not happen on it (requests to other hosts, errors, warnings), and the bodies that were posted. */
async function open(url: string, options: object = {}) {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page: Page = await context.newPage();
  const faults: string[] = [];
  const posted: string[] = [];
  page.on('request', (request: Any) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(request.url());
    if (request.method() === 'POST') posted.push(request.postData() ?? '');
  });
  page.on('pageerror', (error: Error) => faults.push(error.message));
  page.on('console', (message: Any) => {
    // The browser logs each answer of 4xx by itself.
    const refused = /status of 4\d\d/.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !refused) faults.push(message.text());
  });
  await page.goto(url);
  return { page, faults, posted };
}

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await page.getByLabel(new RegExp(`^(Bearer )?${label}\\b`)).fill(text);
  }
}

/**
 * Fills the form in, presses the button and returns the first line of the answer. After a created plant it waits for
 * the next offer: until then the page takes no other press.
 */
async function create(page: Page, fields: Record<string, string> = {}): Promise<string> {
  await fill(page, fields);
  const id = await idOf(page);
  const response = page.waitForResponse((response: Any) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Create plant' }).click();
  await response;
  const line = await answer(page);
  if (line.startsWith('200')) await nextOffer(page, id);
  return line;
}

async function answer(page: Page): Promise<string> {
  await page.locator('#answer[aria-busy=false]').waitFor();
  return textOf(page, '#answer p');
}

/** The text that is to be seen: what is hidden is not in it. */
function textOf(page: Page, selector: string): Promise<string> {
  return page.locator(selector).innerText();
}

function idOf(page: Page): Promise<string> {
  return page.getByLabel(/^id/).inputValue();
}

/** Waits until another id is offered. Not with `waitForFunction`: to look again, it calls `eval`, which the page's policy refuses. */
async function nextOffer(page: Page, before: string): Promise<string> {
  await waitFor(async () => expect(await idOf(page)).not.toBe(before));
  return idOf(page);
}

/** What axe finds, as lines. It runs next to the page's own scripts, so that the page's policy holds. */
async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const violations: { id: string; nodes: { html: string }[] }[] = (await page.evaluate('axe.run()'))
    .violations;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const phone = { viewport: { width: 360, height: 640 }, isMobile: true };
const desktop = { viewport: { width: 1280, height: 800 } };

it.each([
  ['the public token', 'for-evaluation-only'],
  ['a token of your own', undefined],
])('is valid HTML by the recommended rules of html-validate, with %s', async (_, token) => {
  const { HtmlValidate } = await load('html-validate');
  const html = await (await fetch(await servePage({ token }))).text();
  const { results } = await new HtmlValidate({
    root: true,
    extends: ['html-validate:recommended'],
  }).validateString(html);
  const messages = results.flatMap((result: Any) => result.messages);
  expect(messages.map(({ line, ruleId, message }: Any) => `${line}: ${ruleId}: ${message}`)).toEqual([]);
});

describeUnless(withoutChromium, 'the page in a browser', () => {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath!,
      args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP plants.test 127.0.0.1'],
    });
  });
  afterAll(() => browser?.close());

  it.each<[string, { viewport: { width: number; height: number }; colorScheme?: string }, string]>([
    ['a phone in the light', { ...phone, colorScheme: 'light' }, 'rgb(245, 248, 244)'],
    ['a phone in the dark', { ...phone, colorScheme: 'dark' }, 'rgb(16, 21, 18)'],
    ['a desktop in the light', { ...desktop, colorScheme: 'light' }, 'rgb(245, 248, 244)'],
    ['a desktop in the dark', { ...desktop, colorScheme: 'dark' }, 'rgb(16, 21, 18)'],
    ['320 pixels', { viewport: { width: 320, height: 640 } }, 'rgb(245, 248, 244)'],
  ])(
    'fits %s, shows the response without scrolling, and axe finds nothing',
    async (_, options, background) => {
      const { page, faults } = await open(await servePage(), options);
      const { width, height } = options.viewport;
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
      expect(await accessibilityFaults(page)).toEqual([]);
      // Phones zoom in on smaller ones.
      const sizes =
        "[...document.querySelectorAll('input')].map((input) => getComputedStyle(input).fontSize)";
      expect(new Set(await page.evaluate(sizes))).toEqual(new Set(['16px']));
      expect(await page.getByRole('link', { name: 'openapi.json' }).isVisible()).toBe(true);
      expect(await textOf(page, 'main')).toContain('400 Bad Request');
      for (const [id, expected] of [
        ['5', /^200 Plant 5 created\. \d+ ms$/],
        ['5', /^400 40003 A plant with id 5 exists.* \d+ ms$/],
      ] as const) {
        expect(await create(page, { id })).toMatch(expected);
        const box = await page.locator('#answer p').boundingBox();
        expect(box!.y + box!.height).toBeLessThanOrEqual(height);
        expect(await page.evaluate('scrollY')).toBe(0);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        expect(await accessibilityFaults(page)).toEqual([]);
      }
      expect(faults).toEqual([]);
    },
  );

  it('shows the result next to the form on a desktop and the request under it, all of it above the fold', async () => {
    const { page } = await open(await servePage(), desktop);
    await create(page, { id: '9223372036854775808' });
    const boxOf = (part: string) => page.locator(part).boundingBox();
    for (const part of ['#create', '#answer', '#curl', '#history']) {
      const { y, height } = await boxOf(part);
      expect(y + height, part).toBeLessThanOrEqual(desktop.viewport.height);
    }
    const [form, result, request] = [await boxOf('#create'), await boxOf('#answer'), await boxOf('#curl')];
    expect(result.x).toBeGreaterThan(form.x + form.width);
    expect(result.y).toBeLessThan(form.y + form.height);
    expect(request.x).toBe(result.x);
    expect(request.y).toBeGreaterThan(result.y + result.height);
  });

  it('shows status, code, message, headers and milliseconds of a response in a live region', async () => {
    const { page } = await open(await servePage());
    const line = await create(page, { token: 'wrong' });
    expect(line).toMatch(/^401 40102 The bearer token is invalid or expired\. Get a new one\. \d+ ms$/);
    expect(await page.locator('#answer').getAttribute('aria-live')).toBe('polite');
    const text = await textOf(page, '#answer');
    // The Error is shown as the plant of a 200 is.
    expect(text).toContain('Request\nPOST /plants\n{"id":2,"name":"Rosa canina","tag":"shrub"}\n');
    expect(text).toContain(
      'Response\n401 Unauthorized\n{"error":40102,"message":"The bearer token is invalid or expired. Get a new one."}\n',
    );
    expect(text).toContain('www-authenticate: Bearer realm="plants", error="invalid_token"');
    // The request that was sent, whatever is typed since.
    await fill(page, { id: '6' });
    expect(await textOf(page, '#answer')).toBe(text);
    await page.getByRole('link', { name: '40102' }).first().click();
    expect(await textOf(page, 'tr:target')).toMatch(/^40102\s+token_invalid/);
  });

  it('sends an id beyond 2^53 digit by digit', async () => {
    const { page, posted } = await open(await servePage());
    expect(await create(page, { id: '9007199254740992' })).toMatch(/^200 Plant 9007199254740992 created/);
    expect(await create(page, { id: '9007199254740993', tag: '' })).toMatch(/^200 Plant 9007199254740993/);
    expect(await create(page, { id: '9007199254740993' })).toMatch(/^400 40003 .*9007199254740993/);
    expect(posted[1]).toBe('{"id":9007199254740993,"name":"Rosa canina"}');
    expect(await page.locator('#history li').allInnerTexts()).toEqual([
      '9007199254740993 Rosa canina',
      '9007199254740992 Rosa canina shrub',
    ]);
  });

  it.each([
    ['abc', '{"id":"abc","name":"Rosa canina","tag":"shrub"}'],
    ['9223372036854775808', '{"id":9223372036854775808,"name":"Rosa canina","tag":"shrub"}'],
    ['007', '{"id":"007","name":"Rosa canina","tag":"shrub"}'],
    ['', '{"name":"Rosa canina","tag":"shrub"}'],
  ])('lets the server say what is wrong with the id "%s"', async (id, body) => {
    const { page, posted } = await open(await servePage());
    expect(await create(page, { id })).toMatch(/^400 40002 .*\bid\b/);
    expect(posted).toEqual([body]);
    await page.getByRole('button', { name: 'next free id' }).click();
    await nextOffer(page, id);
    expect(await create(page)).toMatch(/^200 Plant 2 created/);
  });

  it('shows a curl and a JavaScript program that do the same, whatever is typed', async () => {
    const url = await servePage();
    const [, drawn] = /<pre id="curl"[^>]*>([\s\S]*?)<\/pre>/.exec(await (await fetch(url)).text())!;
    const { page } = await open(url);
    // As the server has drawn it, so that nothing jumps when the script starts.
    expect(await textOf(page, '#curl')).toBe(drawn!.replaceAll('&#34;', '"'));
    const name = `L'été "où" $HOME \\ \`date\` !1 %s`;
    await fill(page, { id: '21', name, tag: "a'b" });
    const curl = await textOf(page, '#curl');
    const stdout = await paste(curl);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(JSON.parse(stdout.split('\r\n\r\n')[1]!)).toEqual({ name, tag: "a'b" });
    await fill(page, { id: '9007199254740993' });
    await page.getByRole('tab', { name: 'JavaScript' }).click();
    const code = await textOf(page, '#fetch');
    const [head = '', ...body] = code.split('\n');
    expect(head).toBe("import { createPlantClient } from 'plant-store/client';");
    const call = body.join('\n').replace('await client', 'return await client');
    const run = new Function('createPlantClient', `return (async () => {${call}})()`);
    expect(await run(createPlantClient)).toEqual({ name, tag: "a'b" });
    expect(await create(page)).toMatch(/^400 40003 .*9007199254740993/);
  });

  it('offers an id that is free, never the one of the printed curl, and keeps one that was typed', async () => {
    const program = runExample('server', { DATABASE_URL: 'memory:' });
    const [printed] = await program.printed(/curl -i .*/);
    const url = await urlOf(program);
    const { page } = await open(url);
    expect(await textOf(page, 'header')).toContain('Storage: in memory, lost on exit');
    expect(printed).toContain('"id":1,');
    expect(await idOf(page)).toBe('2');
    expect(await paste(printed)).toMatch(/^HTTP\/1\.1 200/);
    expect(await create(page)).toMatch(/^200 Plant 2 created/);
    expect(await idOf(page)).toBe('3');
    // The page's own curl, used in a terminal: it takes the id that the form still shows.
    await paste(await textOf(page, '#curl'));
    await page.evaluate("dispatchEvent(new Event('focus'))");
    expect(await nextOffer(page, '3')).toBe('4');
    expect(await create(page)).toMatch(/^200 Plant 4 created/);
    await fill(page, { id: '77' });
    await page.evaluate("dispatchEvent(new Event('focus'))");
    expect(await create(page)).toMatch(/^200 Plant 77 created/);
  });

  it('reports that the server has stopped, and continues when it is back', async () => {
    const program = runExample('server', { DATABASE_URL: 'memory:' });
    const url = await urlOf(program);
    const { page } = await open(url);
    program.child.kill('SIGKILL');
    await program.exit;
    await page.getByRole('button', { name: 'Create plant' }).click();
    expect(await answer(page)).toBe(
      `No response from ${url}. Check that the server is running. The plant may or may not have been stored.`,
    );
    expect(await urlOf(runExample('server', { DATABASE_URL: 'memory:', PORT: new URL(url).port }))).toBe(url);
    expect(await create(page)).toMatch(/^200 Plant 2 created/);
  });

  it('reports that a token cannot be sent', async () => {
    const { page, posted } = await open(await servePage());
    await fill(page, { token: 'ключ' });
    await page.getByRole('button', { name: 'Create plant' }).click();
    expect(await answer(page)).toMatch(/^This token cannot be sent in a header/);
    expect(posted).toEqual([]);
    expect(await create(page, { token: '' })).toMatch(/^401 40101 /);
    expect(await textOf(page, '#curl')).not.toContain('Authorization');
  });

  it.each<[string, (page: Page) => Promise<void>]>([
    ['a double click', (page) => page.getByRole('button', { name: 'Create plant' }).dblclick()],
    [
      'a double click slower than the response',
      async (page) => {
        await create(page);
        await page.mouse.down({ clickCount: 2 });
        await page.mouse.up({ clickCount: 2 });
      },
    ],
    ['Enter in a field', (page) => page.getByLabel(/^name/).press('Enter')],
    [
      'Enter held down',
      async (page) => {
        await page.getByLabel(/^name/).focus();
        for (let i = 0; i < 5; i++) await page.keyboard.down('Enter');
        await page.keyboard.up('Enter');
      },
    ],
  ])('creates one plant on %s', async (_, act) => {
    const { page, posted } = await open(await servePage());
    await act(page);
    expect(await answer(page)).toMatch(/^200 Plant 2 created/);
    await nextOffer(page, '2');
    // The next request shows that no other request was in flight.
    await create(page, { id: '50' });
    expect(posted.map((body) => JSON.parse(body).id)).toEqual([2, 50]);
  });

  it('can be used with the keyboard alone, in the order in which it is read', async () => {
    const { page } = await open(await servePage());
    const order: string[] = [];
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press('Tab');
      order.push(await page.evaluate('document.activeElement.id || document.activeElement.innerText'));
    }
    expect(order.join()).toBe('Reference,Documentation,id,next,name,tag,token,Create plant,curl-tab,curl');
  });

  it('offers the next free id when one is taken, and the button creates its plant', async () => {
    const { page, posted } = await open(await servePage());
    await create(page);
    expect(await create(page, { id: '2' })).toMatch(/^400 40003 /);
    await page.getByRole('button', { name: 'Use 3, which is free' }).press('Enter');
    expect(await idOf(page)).toBe('3');
    expect(await page.getByLabel(/^id/).getAttribute('aria-invalid')).toBe(null);
    // The button to send it has the focus.
    await page.keyboard.press('Enter');
    await waitFor(() => expect(posted).toHaveLength(3));
    expect(await answer(page)).toMatch(/^200 Plant 3 created/);
  });

  it('still has its history and a free id after a reload, and after going back', async () => {
    const { page } = await open(await servePage());
    const history = () => page.locator('#history li').allInnerTexts();
    await create(page);
    await page.reload();
    expect(await history()).toEqual(['2 Rosa canina shrub']);
    expect(await create(page)).toMatch(/^200 Plant 3 created/);
    await page.getByRole('link', { name: 'openapi.json' }).first().click();
    await page.waitForURL('**/openapi.json');
    await page.goBack();
    expect(await history()).toEqual(['3 Rosa canina shrub', '2 Rosa canina shrub']);
    expect(await create(page)).toMatch(/^200 Plant 4 created/);
  });

  it('copies the curl, with a clipboard and over plain http without', async () => {
    const url = await servePage();
    const { page, faults } = await open(url, { permissions: ['clipboard-read', 'clipboard-write'] });
    const clipboard = () => page.evaluate('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Copy curl' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await clipboard()).toBe(await textOf(page, '#curl'));
    const plain = await open(url.replace('127.0.0.1', 'plants.test'));
    expect(await plain.page.evaluate('navigator.clipboard')).toBeUndefined();
    await fill(plain.page, { name: 'Ilex' });
    await plain.page.getByRole('tab', { name: 'JavaScript' }).click();
    await plain.page.getByRole('button', { name: 'Copy JavaScript' }).click();
    await plain.page.getByText('Copied').first().waitFor();
    expect(await plain.page.evaluate('String(getSelection())')).toContain("name: 'Ilex'");
    expect([...faults, ...plain.faults]).toEqual([]);
  });

  it('has tabs of curl, PowerShell and JavaScript that the arrow keys move between', async () => {
    const { page } = await open(await servePage());
    const shown = () => page.locator('[role=tabpanel]:visible').getAttribute('id');
    expect(await shown()).toBe('curl');
    await page.getByRole('tab', { name: 'curl' }).focus();
    const steps = { Right: ['powershell', 'fetch', 'curl'], Left: ['fetch', 'powershell'] };
    for (const [key, ids] of Object.entries(steps))
      for (const id of ids) {
        await page.keyboard.press(`Arrow${key}`);
        expect(await shown()).toBe(id);
        expect(await page.getByRole('tab', { selected: true }).getAttribute('id')).toBe(`${id}-tab`);
      }
    await fill(page, { id: '9007199254740993', name: `L'été ’x’ $HOME`, tag: '' });
    expect(await textOf(page, '#powershell')).toMatch(
      /^Invoke-RestMethod http:\S+\/plants -Method Post `\n {2}-Headers @\{ Authorization = 'Bearer for-evaluation-only' \} `\n {2}-ContentType 'application\/json; charset=utf-8' `\n {2}-Body '\{"id":9007199254740993,"name":"L''été ’’x’’ \$HOME"\}'$/,
    );
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['an id that is no integer', { id: 'abc' }, ['id']],
    ['an id that is taken', { id: '5' }, ['id']],
    ['a wrong token', { token: 'wrong' }, ['token']],
    ['an id and a token that are right', {}, []],
  ])('marks the faulty field, which the message describes: %s', async (_, fields, faulty) => {
    const { page } = await open(await servePage());
    await create(page, { id: '5' });
    await create(page, fields);
    const marked = page.locator('[aria-invalid=true]');
    expect(await marked.evaluateAll((inputs: { id: string }[]) => inputs.map(({ id }) => id))).toEqual(
      faulty,
    );
    if (faulty.length === 0) return;
    expect(await marked.getAttribute('aria-describedby')).toBe('message');
    expect(await textOf(page, '#message')).not.toBe('');
    expect(await accessibilityFaults(page)).toEqual([]);
    await marked.fill('6');
    expect(await marked.count()).toBe(0);
  });

  it('says "Sending…" on its button until the response is there', async () => {
    const { page } = await open(await servePage());
    const { promise, resolve } = deferred();
    await page.route('**/plants', (route: Any) => promise.then(() => route.continue()));
    await page.getByRole('button', { name: 'Create plant' }).click();
    await page.getByRole('button', { name: 'Sending…' }).waitFor();
    resolve();
    await page.getByRole('button', { name: 'Create plant' }).waitFor();
    expect(await answer(page)).toMatch(/^200 Plant 2 created/);
  });

  it('runs plant-store/client', async () => {
    const url = await servePage();
    const { page } = await open(url);
    const { outputFiles } = await build({
      entryPoints: [`${root}src/client/client.ts`],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      write: false,
    });
    await page.evaluate(outputFiles[0]!.text.replace('var client', 'globalThis.client'));
    const create = `client.createPlantClient('${url}', { token: 'for-evaluation-only' }).create({ id: 9007199254740993n, name: 'Ilex' })`;
    expect(await page.evaluate(create)).toEqual({ name: 'Ilex' });
    expect(await page.evaluate(`${create}.catch(({ problem, stored }) => [problem, stored])`)).toEqual([
      'id_taken',
      'no',
    ]);
  });

  it('is a whole reference without JavaScript, with a curl that works', async () => {
    const { page } = await open(await servePage(), { javaScriptEnabled: false });
    expect(await page.getByRole('button').count()).toBe(0);
    const text = await textOf(page, 'main');
    expect(text).toContain('The form needs JavaScript');
    expect(text).not.toContain('Create a plant');
    expect(text).toContain('Request in curl');
    for (const error of Object.values(errorNumbers)) expect(text).toContain(String(error));
    for (const schema of ['Plant', 'NewPlant', 'Error']) expect(text).toContain(schema);
    const stdout = await paste(await textOf(page, '#curl'));
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('shows neither a token of your own nor where its plants are stored, and takes it if it is typed in', async () => {
    const program = runExample('server', { DATABASE_URL: 'memory:', TOKEN: 'a-secret' });
    const { page } = await open(await urlOf(program));
    expect(await page.content()).not.toContain('a-secret');
    expect(await textOf(page, 'header')).not.toContain('Storage');
    expect(await create(page, { token: 'a-secret' })).toMatch(/^200 Plant 2 created/);
    const shown = await textOf(page, 'main');
    expect(shown).not.toContain('a-secret');
    const stdout = await paste(await textOf(page, '#curl'), { TOKEN: 'a-secret' });
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});
