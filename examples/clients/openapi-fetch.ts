// A typed client that sends every id exactly: `URL=http://… node --import tsx examples/clients/openapi-fetch.ts`.
import createClient from 'openapi-fetch';
import type { paths } from './plant-types.js';

const { URL: baseUrl = 'http://127.0.0.1:3000', TOKEN: token = 'for-evaluation-only' } = process.env;

const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

for (const id of [9_007_199_254_740_992n, 9_007_199_254_740_993n]) {
  const { data, error } = await client.POST('/plants', {
    body: { id, name: 'Rosa canina', tag: 'shrub' },
    // The line: JSON.stringify throws on a bigint, so its digits go into the text by hand.
    bodySerializer: ({ id, ...rest }) => `{"id":${id},${JSON.stringify(rest).slice(1)}`,
  });
  console.log(data ?? error);
}
