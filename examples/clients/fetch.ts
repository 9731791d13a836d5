// Ids beyond 2^53 by plain fetch: `URL=http://… node --import tsx examples/clients/fetch.ts`.
const { URL: baseUrl = 'http://127.0.0.1:3000', TOKEN: token = 'for-evaluation-only' } = process.env;

/** The digits of the id go into the text by hand: JSON.stringify throws on a bigint, and a number is rounded. */
const textOf = ({ id, ...rest }: { id: bigint; name: string; tag?: string }) =>
  `{"id":${id},${JSON.stringify(rest).slice(1)}`;

for (const id of [9_007_199_254_740_992n, 9_007_199_254_740_993n]) {
  const response = await fetch(`${baseUrl}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: textOf({ id, name: 'Rosa canina', tag: 'shrub' }),
  });
  console.log(await response.json());
}
