import { expect, it } from 'vitest';
import { type Problem, problems } from '../../src/problems.js';
import { requestPicture, steps } from './request-picture.js';

it('src/request.svg is what its program draws today (npx vitest -u draws it anew)', async () => {
  await expect(requestPicture()).toMatchFileSnapshot('../../src/request.svg');
});

it('the picture shows every problem but the one of a fault of our own', () => {
  const shown = new Set<Problem>(steps.flatMap(({ refusals }) => refusals));
  const missing = Object.keys(problems).filter((problem) => !shown.has(problem as Problem));
  expect(missing).toEqual(['internal_error']);
});
