import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { problems } from '../../src/problems.js';
import { describeUnless } from '../support/obstacle.js';
import { type Program, startExample } from '../support/program.js';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
const obstacle = executablePath ? undefined : 'there is no Chromium (apt-get install chromium)';

const programs: Program[] = [];
let browser: Browser;

async function startServer(env: Record<string, string> = {}): Promise<string> {
  const program = startExample('server', { DATABASE_URL: 'memory:', ...env });
  programs.push(program);
  return (await program.printed(/listening on (http:\S+)/))[1] as string;
}

interface Look {
  /** What there is to scroll through, in pixels. */
  width: number;
  /** Of the page's background, from 0 to 1. */
  lightness: number;
  /** Text that stands out too little from what is behind it. */
  faint: string[];
}

// Text for the browser, as the types of its world are not in here. Contrast as WCAG 2.2 defines it; level
// AA asks for 4.5:1.
const look = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const lightness = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0.5) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const faint = [];
  for (const e of document.querySelectorAll('main *')) {
    const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join('');
    if (!text || !e.checkVisibility() || e.closest('select, svg')) continue;
    const ratio = contrast(lightness(getComputedStyle(e).color), lightness(behind(e)));
    if (ratio < 4.5) faint.push(ratio.toFixed(1) + ' ' + e.className + ': ' + text);
  }
  return {
    width: document.documentElement.scrollWidth,
    lightness: lightness(behind(document.body)),
    faint: [...new Set(faint)],
  };
})()`;

describeUnless(obstacle, 'the reference page in a browser', () => {
  let url: string;

  beforeAll(async () => {
    url = await startServer();
    browser = await chromium.launch({
      executablePath: executablePath!,
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  });
  afterAll(async () => {
    await browser?.close();
    for (const { child } of programs) child.kill();
  });

  /** Opens the page, and keeps what must not happen: requests to other hosts, and errors. */
  async function open(
    at: string,
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage(options);
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${at}/`) && !request.url().startsWith('data:'))
        faults.push(request.url());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      // The browser logs each 4xx by itself, and creating a plant twice is meant to be one.
      const refused = message.location().url === `${at}/plants` && message.text().includes('status of 400');
      if (['error', 'warning'].includes(message.type()) && !refused) faults.push(message.text());
    });
    await page.goto(at);
    await page.locator('.opblock-post').waitFor();
    return { page, faults };
  }

  async function create(page: Page, body: string): Promise<{ status: string; answer: unknown }> {
    await page.locator('textarea.body-param__text').fill(body);
    const response = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Execute' }).click();
    const request = (await response).request();
    expect(request.postData()).toBe(body);
    const row = page.locator('.live-responses-table tbody tr').first();
    await row.getByText(String((await response).status()), { exact: true }).waitFor();
    return {
      status: (await row.locator('.response-col_status').textContent()) ?? '',
      answer: JSON.parse((await row.locator('.highlight-code code').first().textContent()) ?? ''),
    };
  }

  it('creates a plant with the token that is filled in, shows the answer, and an Error for the same again', async () => {
    const { page, faults } = await open(url);
    const body = '{"id":1,"name":"Rosa canina","tag":"shrub"}';
    expect(await create(page, body)).toEqual({
      status: '200',
      answer: { name: 'Rosa canina', tag: 'shrub' },
    });
    expect(await create(page, body)).toEqual({
      status: '400',
      answer: { error: 40003, message: 'A plant with id 1 exists.' },
    });
    expect(faults).toEqual([]);
    await page.close();
  });

  it('sends an id beyond 2^53 digit by digit', async () => {
    const { page, faults } = await open(url);
    expect((await create(page, '{"id":9007199254740992,"name":"first"}')).status).toBe('200');
    expect((await create(page, '{"id":9007199254740993,"name":"second"}')).status).toBe('200');
    expect(await create(page, '{"id":9007199254740993,"name":"third"}')).toEqual({
      status: '400',
      answer: { error: 40003, message: 'A plant with id 9007199254740993 exists.' },
    });
    expect(faults).toEqual([]);
    await page.close();
  });

  it('starts from an example that can be sent as it is', async () => {
    const { page } = await open(url);
    const example = await page.locator('textarea.body-param__text').inputValue();
    expect(JSON.parse(example)).toEqual({ id: 1, name: 'Rosa canina', tag: 'shrub' });
    await page.close();
  });

  it('shows the operation, the schemas and every error number', async () => {
    const { page } = await open(url);
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not shown
    const text = await page.locator('main').innerText();
    for (const shown of [
      'POST',
      '/plants',
      'Plant',
      'NewPlant',
      'Error',
      'int64',
      'int32',
      'WWW-Authenticate',
    ]) {
      expect(text).toContain(shown);
    }
    for (const [name, [error, sentence]] of Object.entries(problems)) {
      for (const shown of [String(error), name, sentence]) expect(text).toContain(shown);
    }
    await page.close();
  });

  it.each<[string, id: number, BrowserContextOptions, dark: boolean]>([
    [
      'a phone in the light',
      -1,
      { viewport: { width: 360, height: 640 }, isMobile: true, colorScheme: 'light' },
      false,
    ],
    [
      'a phone in the dark',
      -2,
      { viewport: { width: 360, height: 640 }, isMobile: true, colorScheme: 'dark' },
      true,
    ],
    ['a desktop in the light', -4, { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }, false],
    ['a desktop in the dark', -3, { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }, true],
  ])('fits %s', async (title, id, options, dark) => {
    const { page, faults } = await open(url, options);
    expect((await create(page, `{"id":${id},"name":"${title}"}`)).status).toBe('200');
    const { width, faint, lightness } = await page.evaluate<Look>(look);
    expect(width).toBeLessThanOrEqual(options.viewport?.width as number);
    expect(lightness < 0.5).toBe(dark);
    expect(faint).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('keeps a token of your own to itself, and takes it from whoever types it in', async () => {
    const own = await startServer({ TOKEN: 'a-secret' });
    const { page } = await open(own);
    expect(await page.content()).not.toContain('a-secret');
    expect(await (await fetch(`${own}/reference/start.js`)).text()).not.toContain('a-secret');
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.auth-container input').fill('a-secret');
    await page.locator('.auth-btn-wrapper button[type=submit]').click();
    await page.locator('.btn-done').click();
    expect((await create(page, '{"id":1,"name":"Rosa"}')).status).toBe('200');
    await page.close();
  });
});
