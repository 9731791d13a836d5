// What the pages share whose apps have better-auth and a page with a form.
import { it, onTestFinished } from 'vitest';
import { launchChromium } from '../../ecosystem/forms.js';
import { withoutChromium } from '../../support/chromium.js';
import { describeUnless } from '../../support/obstacle.js';
import type { RunningApp } from './cases.js';
import { expectUsablePage } from './form-page.js';

const emailOf = (name: string) => `${name}@example.com`;
const passwordOf = (name: string) => `password of ${name}`;

/** Returns the token of a session of each caller, who signs up at first. */
export function signingUp(url: () => string): (tenant: 'garden' | 'park') => Promise<string> {
  const tokens = new Map<string, Promise<string>>();
  const signUp = async (name: string) => {
    const body = JSON.stringify({ name, email: emailOf(name), password: passwordOf(name) });
    const headers = { 'content-type': 'application/json', origin: url() };
    const response = await fetch(`${url()}/api/auth/sign-up/email`, { method: 'POST', headers, body });
    return ((await response.json()) as { token: string }).token;
  };
  return (tenant) => {
    if (!tokens.has(tenant)) tokens.set(tenant, signUp(tenant));
    return tokens.get(tenant)!;
  };
}

/** Registers the cases of the page in a browser. */
export function pageCases(running: () => RunningApp): void {
  describeUnless(withoutChromium, 'its page', () => {
    it.each([true, false])('shows results and the new list, JavaScript in the browser: %s', async (isOn) => {
      const { url, tokenOf } = running();
      await tokenOf('garden');
      const browser = await launchChromium();
      onTestFinished(() => browser.close());
      const garden = { email: emailOf('garden'), password: passwordOf('garden') };
      const ids = isOn ? (['9007199254740995', '7'] as const) : (['9007199254740997', '8'] as const);
      await expectUsablePage(browser, url, isOn, garden, ids);
    });
  });
}
