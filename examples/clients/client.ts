// A client without a library that sends every id exactly: `URL=http://… node --import tsx examples/clients/client.ts`.
export {};

const { URL: baseUrl = 'http://127.0.0.1:3000', TOKEN: token = 'for-evaluation-only' } = process.env;

await create({ id: 9_007_199_254_740_992n, name: 'Quercus robur' });
await create({ id: 9_007_199_254_740_993n, name: 'Rosa canina', tag: 'shrub' });

interface NewPlant {
  /** Not a `number`: it has 53 bits, and 9007199254740993 would become 9007199254740992 before it is sent. */
  id: bigint;
  name: string;
  tag?: string;
}

async function create(plant: NewPlant): Promise<void> {
  const response = await fetch(`${baseUrl}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: toJson(plant),
  });
  console.log(response.status, await response.text());
}

function toJson({ id, ...rest }: NewPlant): string {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => object };
  // Browsers since 2023 and Node 22 have JSON.rawJSON. Without it, the digits go into the text by hand.
  if (rawJSON) return JSON.stringify({ id: rawJSON(String(id)), ...rest });
  return `{"id":${id},${JSON.stringify(rest).slice(1)}`;
}
