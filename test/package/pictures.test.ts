import { expect, it } from 'vitest';
import { requestPicture } from './request-picture.js';

it('src/request.svg is what its program draws today (npx vitest -u draws it anew)', async () => {
  await expect(requestPicture()).toMatchFileSnapshot('../../src/request.svg');
});
