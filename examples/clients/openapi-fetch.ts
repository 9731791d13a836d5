// A typed client that sends every id exactly: `URL=http://… node --import tsx examples/clients/openapi-fetch.ts`.
import createClient from 'openapi-fetch';

// As openapi-typescript writes it, with int64 as bigint (README.md has the line).
interface Paths {
  '/plants': {
    post: { requestBody: Json<NewPlant>; responses: { 200: Json<Plant>; default: Json<Problem> } };
  };
}
type Json<Type> = { content: { 'application/json': Type } };
type Plant = { name: string; tag?: string };
type NewPlant = Plant & { id: bigint };
type Problem = { error: number; message: string };

const { URL: baseUrl = 'http://127.0.0.1:3000', TOKEN: token = 'for-evaluation-only' } = process.env;

const client = createClient<Paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

for (const id of [9_007_199_254_740_992n, 9_007_199_254_740_993n]) {
  const { data, error } = await client.POST('/plants', {
    body: { id, name: 'Rosa canina', tag: 'shrub' },
    // The line: JSON.stringify throws on a bigint, so its digits go into the text here.
    bodySerializer: ({ id, ...rest }) => `{"id":${id},${JSON.stringify(rest).slice(1)}`,
  });
  console.log(data ?? error);
}
