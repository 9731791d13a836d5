// `plant-store audit`: sends the published cases to a running endpoint, and prints for each what came back.
import { hostCases } from 'plant-store/testing';
import { type Failure, summaryOf } from './audit-causes.js';
import { neededIds, needsIdOne } from './audit-ids.js';
import { acceptsReplays, ownCases, withoutReplays } from './audit-own-cases.js';
import { pageOf } from './audit-pages.js';
import { type AuditOptions, describe, type Received, send, Trial } from './audit-trial.js';
import { CliError, sentenceOf } from './cli-error.js';
import { printable } from './printable.js';

/** Says what the audit will create. */
export function planOf({ url, ids }: AuditOptions): string {
  return `The audit sends about 200 requests to ${url}/plants and creates plants that it cannot delete:
  ids that begin with ${ids}, from ${ids}0001 to ${ids}9999999 and the same below zero
  ${neededIds.join(', ')}, unless they exist`;
}

/**
 * Runs all cases, and prints a line for each.
 *
 * @returns whether all cases passed
 * @throws {Error} with one line if there is no plant-store, or the token is not accepted
 */
export async function audit(options: AuditOptions, print: (text: string) => void): Promise<boolean> {
  const alone = await lookAt(options);
  const trials = new Map<string, Trial>();
  const created = new Set<bigint>();
  const open = (id: string) => {
    const trial = new Trial(options, id, `${options.ids}${String(trials.size).padStart(3, '0')}`, created);
    trials.set(id, trial);
    return trial;
  };
  const { strict = false } = options;
  const leftOut = [needsIdOne];
  if (await acceptsReplays(options, open('replays'))) leftOut.push(...withoutReplays);
  const published = hostCases(open, { alone, strict }).filter(({ id }) => !leftOut.includes(id));
  const cases = [...published, ...ownCases(options, open)];
  const failures: Failure[] = [];
  for (const { id, name, run } of cases) {
    const fault = await run().then(
      () => undefined,
      (error: Error) => error.message.replace(`${id}: `, ''),
    );
    const { received } = trials.get(id)!;
    if (fault) failures.push({ id, fault, received });
    print(fault ? `FAIL  ${id}: ${name}${details(id, received, fault)}` : `ok    ${id}: ${name}`);
  }
  for (const line of summaryOf(failures)) print(line);
  print(`\n${cases.length - failures.length} of ${cases.length} cases passed.`);
  if (leftOut.length > 1)
    print(
      `An identical plant returned 200 again, and another one with its id 400, as with acceptReplays: ${withoutReplays.join(' and ')} were left out.`,
    );
  if (!alone) print('The cases of 404 and 405 were left out: your app responds to other paths and methods.');
  return failures.length === 0;
}

function details(id: string, received: Received | undefined, fault: string): string {
  return `
        received  ${received ? describe(received) : 'no response'}
        contract  ${printable(fault)}
        read      ${pageOf(id, received)}`;
}

/**
 * Looks for the endpoint, without creating a plant.
 *
 * @returns whether it is a plant-store that also responds to other paths and methods
 * @throws {Error} with one line, which has the request and the response, if there is no endpoint, or it rejects the token
 */
async function lookAt({ url, token, strict }: AuditOptions): Promise<boolean> {
  const look = (method: string, headers: Record<string, string>) =>
    send(`${url}/plants`, { method, headers }).catch((error: Error) => {
      throw new CliError(`no response from ${url}/plants: ${sentenceOf(error.cause ?? error)}`);
    });
  const stranger = await look('POST', {});
  if (stranger.status >= 300 && stranger.status < 400)
    throw new CliError(
      `POST ${url}/plants returned ${describe(stranger)}. The audit follows no redirect, and neither do clients that keep a token for its host. Audit the URL that responds itself: read ${pageOf('path', stranger)}`,
    );
  if (strict ? stranger.error !== 40101 : stranger.status !== 401)
    throw new CliError(
      `POST ${url}/plants without a token must return 401${strict ? ' and the error 40101' : ''}, and returned ${describe(stranger)}. The URL to audit is the part before /plants: read ${pageOf('path', stranger)}`,
    );
  const known = await look('POST', { authorization: `Bearer ${token}`, 'content-type': 'text/plain' });
  if (strict ? known.error !== 40005 : [401, 403, 404].includes(known.status))
    throw new CliError(
      `POST ${url}/plants with the token, as text/plain and without a body, must return ${strict ? '400 and the error 40005' : '400 or 415'}, and returned ${describe(known)}. Read ${pageOf('token', known)}`,
    );
  const { error } = await look('GET', {});
  return error === 40501;
}
