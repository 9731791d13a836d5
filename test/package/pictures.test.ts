import { expect, it } from 'vitest';
import { requestPicture } from './request-picture.js';

it('src/request.svg is what its program draws today (npm run test:only -- -u draws it anew)', async () => {
  await expect(requestPicture()).toMatchFileSnapshot('../../src/request.svg');
});
