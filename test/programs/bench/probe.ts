import { names, path, plantJson, token } from './load.js';

/** The responses that every server must give before it is measured: no server wins by doing less. */
export async function probe(name: string, port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}${path}`;
  const authorization = `Bearer ${token}`;
  const json = { authorization, 'content-type': 'application/json' };
  const body = plantJson(names[0]);
  const [id] = /\d+/.exec(body)!;
  const answerTo = (name: string) => ({ name, tag: 'hedge' });
  const cases: [
    why: string,
    headers: Record<string, string>,
    body: string,
    status: number,
    answer?: unknown,
  ][] = [
    ['a plant', json, body, 200, answerTo(names[0])],
    ['a longer name', json, plantJson(names[1]), 200, answerTo(names[1])],
    ['a long name', json, plantJson(names[2]), 200, answerTo(names[2])],
    ['a plant without a tag', json, '{"id":999999999,"name":"Rosa"}', 200, { name: 'Rosa' }],
    ['an id that is taken', json, body, 400],
    ['no token', { ...json, authorization: '' }, plantJson(), 401],
    ['another token', { ...json, authorization: `${authorization}0` }, plantJson(), 401],
    ['no JSON', json, '{"id":', 400],
    ['no object', json, '[]', 400],
    ['an id that is a string', json, `{"id":"${id}","name":"a"}`, 400],
    ['an id that is not whole', json, '{"id":1.5,"name":"a"}', 400],
    ['no name', json, '{"id":1}', 400],
    ['a name that is a number', json, '{"id":1,"name":1}', 400],
    ['a tag that is a number', json, '{"id":1,"name":"a","tag":1}', 400],
  ];
  for (const [why, headers, sent, status, answer] of cases) {
    const response = await fetch(url, { method: 'POST', headers, body: sent });
    const text = await response.text();
    const right = response.status === status && (!answer || text === JSON.stringify(answer));
    if (!right) throw new Error(`${name} answers ${why} with ${response.status} ${text}`);
  }
}
