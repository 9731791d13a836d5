// A page with the form of a plant, as people use it, with JavaScript in the browser and without.
import { expect } from 'vitest';
import { chromiumPath } from '../support/chromium.js';
import { type Any, load } from '../support/installed.js';
import { waitFor } from '../support/wait-for.js';

export async function launchChromium(): Promise<Any> {
  const { chromium } = await load('playwright-core');
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Its fields keep what was entered, and each message names its field; `session` is the value of a cookie that may create plants. */
export async function expectUsableForm(browser: Any, url: string, session: string): Promise<void> {
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error: Error) => faults.push(error.message));
    const fieldsAre = async (fields: Record<string, string>) => {
      for (const [name, text] of Object.entries(fields))
        expect(await page.locator(`[name=${name}]`).inputValue()).toBe(text);
    };
    const send = async (fields: Record<string, string>, place: string, sentence: RegExp) => {
      for (const [name, text] of Object.entries(fields)) await page.locator(`[name=${name}]`).fill(text);
      await page.getByRole('button', { name: 'Create plant' }).click();
      await waitFor(async () => expect(await page.locator(place).innerText()).toMatch(sentence));
    };
    await page.goto(url, { waitUntil: 'networkidle' });

    const typed = { id: 'x', name: 'Rosa "canina"', tag: 'shrub' };
    await send(typed, '[role=status]', /^Sign in first\.$/);
    await fieldsAre(typed);
    await context.addCookies([{ name: 'session', value: session, url }]);
    await send({}, '#id-error', /^Enter an integer from/);
    await fieldsAre(typed);
    expect(await page.locator('[name=id]').getAttribute('aria-describedby')).toBe('id-error');
    const id = javaScriptEnabled ? '9007199254740995' : '9007199254740997';
    await send({ id }, '[role=status]', new RegExp(`^Plant ${id} created\\.$`));
    expect(await page.locator('#id-error').innerText()).toBe('');
    await send({ ...typed, id }, '#id-error', /exists/);
    await fieldsAre({ ...typed, id });
    expect(faults).toEqual([]);
    await context.close();
  }
}
