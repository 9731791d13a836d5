// The page with the form and the list of next-turso.md and sveltekit-sqlite.md, as people use it in a browser.
import { expect } from 'vitest';
import type { Any } from '../../support/installed.js';
import { waitFor } from '../../support/wait-for.js';

export interface Person {
  readonly email: string;
  readonly password: string;
}

/** Signs in, makes each mistake, creates plants of these ids, and expects the messages, what the fields keep, and the list beside the form. */
export async function expectUsablePage(
  browser: Any,
  url: string,
  javaScriptEnabled: boolean,
  { email, password }: Person,
  ids: readonly [string, string],
): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error: Error) => faults.push(error.message));
  const field = (name: string) => page.locator(`[name=${name}]`);
  const send = async (fields: Record<string, string>) => {
    for (const [name, text] of Object.entries(fields)) await field(name).fill(text);
    await page.getByRole('button').click();
  };
  const shows = (place: string, sentence: RegExp) =>
    waitFor(async () => expect(await page.locator(place).innerText({ timeout: 5_000 })).toMatch(sentence));
  const keeps = async (fields: Record<string, string>) => {
    for (const [name, text] of Object.entries(fields)) expect(await field(name).inputValue()).toBe(text);
  };
  try {
    await page.goto(`${url}/plants`, { waitUntil: 'networkidle' });
    await send({ email, password: 'a wrong password' });
    await shows('[role=status]', /^Invalid email or password\.?$/i);
    await keeps({ email });
    await send({ password });
    await page.getByRole('button', { name: 'Create plant' }).waitFor({ timeout: 120_000 });

    const typed = { id: 'x', name: 'Rosa "canina"', tag: 'shrub' };
    await send(typed);
    await shows('#id-error', /^Enter an integer from/);
    await shows('[role=status]', /^Correct the fields\.$/);
    await keeps(typed);
    for (const id of ids) {
      await send({ ...typed, id });
      await shows('[role=status]', new RegExp(`^Plant ${id} created\\.$`));
      await shows('ul', new RegExp(`${id} Rosa "canina" shrub`));
      await keeps({ id: '', name: '', tag: '' });
    }
    await send({ ...typed, id: ids[0] });
    await shows('#id-error', /exists/);
    await keeps({ ...typed, id: ids[0] });
    // More than a cookie holds.
    await send({ id: 'y', name: 'ä'.repeat(2_000), tag: '' });
    await shows('#id-error', /^Enter an integer from/);
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}
