// What the published cases cannot do: they have no socket, and know one token.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { HostCase } from 'plant-store/testing';
import type { AuditOptions, Trial } from './audit-trial.js';

export function ownCases(
  { url, token, forbiddenToken, strict }: AuditOptions,
  open: (id: string) => Trial,
): HostCase[] {
  const create = (trial: Trial, bearer: string) =>
    trial.send(`${url}/plants`, { method: 'POST', headers: headersOf(bearer), body: rosa(trial) });
  const uploadBroken: HostCase = {
    id: 'upload-broken',
    name: 'an upload that breaks off stores nothing',
    async run() {
      const trial = open('upload-broken');
      await breakOff(`${url}/plants`, headersOf(token), rosa(trial));
      const { status } = await create(trial, token);
      if (status !== 200) throw new Error('status must be 200, because the id is still free');
    },
  };
  const scopeForbidden: HostCase = {
    id: 'scope-forbidden',
    name: 'a token without the scope returns 40301, and the scope that it lacks',
    async run() {
      const { status, error, headers } = await create(open('scope-forbidden'), forbiddenToken!);
      if (status !== 403) throw new Error('status must be 403');
      if (!strict) return;
      const challenge = String(headers.get('www-authenticate'));
      if (error !== 40301 || !/error="insufficient_scope", scope="/.test(challenge))
        throw new Error('error must be 40301, and www-authenticate must have the scope');
    },
  };
  return forbiddenToken ? [uploadBroken, scopeForbidden] : [uploadBroken];
}

/** The cases that a server with `acceptReplays` responds to with 200. */
export const withoutReplays: readonly string[] = ['id-taken', 'id-taken-beyond-2-53'];

/** Asks whether an identical plant returns 200 again, and another one with its id 400. */
export async function acceptsReplays({ url, token }: AuditOptions, trial: Trial): Promise<boolean> {
  const create = async (body: string) => {
    const init = { method: 'POST', headers: headersOf(token), body };
    return (await trial.send(`${url}/plants`, init)).status;
  };
  const statuses = [await create(rosa(trial)), await create(rosa(trial))];
  statuses.push(await create(rosa(trial).replace('Rosa', 'Other')));
  return statuses.join() === '200,200,400';
}

const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

const rosa = ({ prefix }: Trial) => `{"id":${prefix}1,"name":"Rosa canina"}`;

/** Sends all bytes of a plant, but not all of its upload, and closes the connection. */
async function breakOff(url: string, headers: Record<string, string>, plant: string): Promise<void> {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': plant.length + 1 },
  });
  request.on('error', () => {});
  const closed = new Promise((resolve) => request.on('close', resolve));
  request.write(plant, () => request.destroy());
  await closed;
}
