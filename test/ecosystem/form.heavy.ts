// The form of examples/around/form.ts, which needs no framework, as people use it in a browser.
import type { Server } from 'node:http';
import { it, onTestFinished } from 'vitest';
import { exampleUrl, runExamplesHere } from '../examples/recipe.js';
import { withoutChromium } from '../support/chromium.js';
import { describeUnless } from '../support/obstacle.js';
import { expectUsableForm, launchChromium } from './forms.js';

runExamplesHere();

describeUnless(withoutChromium, 'a form of plain HTML', () => {
  it('keeps its fields, with JavaScript and without', async () => {
    const url = await exampleUrl(import('../../examples/around/form.js') as Promise<{ server: Server }>);
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    await expectUsableForm(browser, `${url}/plants/new`, 'session-of-rosa');
  });
});
