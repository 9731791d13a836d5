import type { VerifyToken } from './bearer.js';
import { checkVerifyToken } from './checks/arguments.js';
import { checkOptions } from './checks/rules.js';
import { kindOf } from './errors/inspect.js';
import { ownWords } from './errors/own-words.js';
import { propertyOf } from './errors/property-of.js';
import {
  checkMembers,
  isNotMine,
  type MaybePromise,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
} from './http.js';
import { type PlantStoreOptions, plantStoreRules } from './options.js';
import { bearerToken, callerOf } from './request/headers.js';
import { guardedHandler, verifier } from './request/parties.js';
import { createHandler } from './request/progress.js';
import type { StorageContext } from './storage.js';

/** The options of `guard`. */
export type GuardOptions = Pick<PlantStoreOptions, 'timeoutMs' | 'onError'>;

/**
 * Creates a handler that protects one of the app's other routes as `POST /plants` is protected: by bearer token, 401 and 403 with
 * `WWW-Authenticate`, 500, 503, the Error body, the time limit and `onError`. Mount it with the same adapters, at its route only: a guard
 * responds to every path and method that reaches it.
 *
 * `handler` returns the whole response, an app's own 404 included. It may throw `InsufficientScope` (403) and `StorageBusy` (503);
 * anything else that it throws is `internal_error` (500), and `onError` gets the cause. Leave `error` out of the response: it is
 * plant-store's own.
 *
 * @throws {TypeError} if an argument or option is invalid
 *
 * @example
 * ```ts
 * const storage = memoryStorage();
 * const getPlant = guard(acceptTokens('secret'), async ({ params }, context) => {
 *   const id = /^-?\d{1,19}$/.exec(String(params?.id))?.[0];
 *   if (!id) return json(400, { error: 1400, message: 'The id must be an integer.' });
 *   const plant = await storage.find?.(BigInt(id), context);
 *   if (!plant) return json(404, { error: 1404, message: 'No such plant.' });
 *   return json(200, { name: plant.name, tag: plant.tag });
 * });
 * ```
 */
export function guard<Caller>(
  verifyToken: VerifyToken<Caller>,
  handler: (request: PlantRequest, context: StorageContext<Caller>) => MaybePromise<PlantResponse>,
  options: GuardOptions = {},
): PlantHandler {
  checkVerifyToken(verifyToken);
  if (typeof handler !== 'function')
    throw new TypeError(
      `handler must be a function, got ${kindOf(handler)}; pass guard(verifyToken, handler)`,
    );
  const settings = checkOptions<PlantStoreOptions>(options, plantStoreRules, ['timeoutMs', 'onError']);

  return createHandler<Caller>(async (progress, request) => {
    checkMembers(request);
    const token = bearerToken(request.headers);

    progress.enter(verifier);
    progress.context.caller = callerOf(await verifyToken(token, progress.context));

    progress.enter(guardedHandler);
    progress.respond(validateResponse(await handler(request, progress.context)));
  }, settings);
}

/**
 * Returns a response of JSON for a guarded handler.
 *
 * @throws {TypeError} if the value has a bigint: write `String(id)`, because most clients would round a number
 *
 * @example
 * ```ts
 * const getPlant = guard(acceptTokens('secret'), ({ params }) => json(200, { id: params?.id, name: 'Rosa canina' }));
 * ```
 */
export function json(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): PlantResponse {
  const body = JSON.stringify(value, (name, member: unknown) => {
    if (typeof member !== 'bigint') return member;
    throw new TypeError(`${name} is a bigint, which JSON cannot represent: write String(${name})`);
  });
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

const invalidResponse =
  'a guarded handler must return { status, headers, body }: an integer from 200 to 599, a plain object of header fields, and a string, which is empty for 204, 205 and 304';

/** Whether a header is one that every host sends (RFC 9110 §5). Of others, some throw and some send "undefined". */
function isField([name, value]: [string, unknown]): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === 'string' && /^[\t -~\x80-\xff]*$/.test(value);
}

/** Validates the response, and drops an `error` that adapters would take for "not mine". */
function validateResponse(response: PlantResponse): PlantResponse {
  const { status, headers, body } = Object(response) as PlantResponse;
  const isStatus = Number.isInteger(status) && status >= 200 && status <= 599;
  // A `Headers` object has no properties to send.
  const isDictionary = Object(headers) === headers && typeof propertyOf(headers, 'get') !== 'function';
  const areFields = isDictionary && Object.entries(headers).every(isField);
  // Of a status without a body (RFC 9110 §6.4.1), Fetch throws if there is one, and Node would miscount it.
  const isBody = typeof body === 'string' && (body === '' || ![204, 205, 304].includes(status));
  if (!isStatus || !areFields || !isBody) {
    throw ownWords(new TypeError(invalidResponse));
  }
  return isNotMine(response) ? { status, headers, body } : response;
}
