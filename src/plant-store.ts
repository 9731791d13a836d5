import { bearerToken, tokenInvalid, type VerifyToken } from './bearer.js';
import { type Content, checkBodyHeaders, readBody, textOf, tooLarge } from './body.js';
import { Context } from './context.js';
import { Deadline, Deadlines } from './deadline.js';
import {
  isThenable,
  operation,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
  pathOf,
} from './http.js';
import { answerMistake } from './mount-mistakes.js';
import { type Complete, checkOptions, type PlantStoreOptions, plantStoreRules } from './options.js';
import { bodyOwner, library, storageParty, verifier } from './parties.js';
import { type NewPlant, plantFromParsed, plantFromText } from './plant/plant.js';
import { isNamed, isRefusal, propertyOf, Refusal } from './problems.js';
import type { PlantStorage } from './storage.js';

/**
 * Makes the handler of `POST /plants`: a pure function from request to response that never rejects. Mount it with
 * an adapter (`plant-store/node`, `/express`, `/koa`, `/fastify`, `/fetch`), or call it yourself.
 *
 * @throws {TypeError} that names a bad argument or option
 * @see {@link https://spec.openapis.org/oas/v3.1.0} and the document in `plant-store/openapi`
 *
 * @example
 * ```ts
 * const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
 * const response = await handle({
 *   method: 'POST',
 *   url: '/plants',
 *   headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
 *   body: '{"id":9007199254740993,"name":"Rosa canina"}',
 * });
 * console.log(response.status, response.body); // 200 {"name":"Rosa canina"}
 * ```
 */
export function createPlantStore<Caller>(
  storage: PlantStorage<Caller>,
  verifyToken: VerifyToken<Caller>,
  options: PlantStoreOptions = {},
): PlantHandler {
  const settings = checkOptions(options, plantStoreRules);
  if (typeof storage?.create !== 'function') throw new TypeError('storage.create must be a function');
  if (typeof verifyToken !== 'function') throw new TypeError('verifyToken must be a function');
  if (settings.acceptReplays && !storage.find) throw new TypeError('acceptReplays needs storage.find');
  const create = operationOf(storage, verifyToken, settings);
  const deadlines = new Deadlines(settings.timeoutMs);

  return function handle(request, index) {
    return new Promise((resolve) => {
      // An object is a host's response, environment or next handler: the adapter was forgotten.
      if (Object(index) === index) return resolve(answerMistake(request, index));
      const refuse = (thrown: unknown) => {
        const { party, expired, giveUp } = deadline;
        const refusal = isRefusal(thrown) ? thrown : party.onThrow(thrown, Boolean(expired), settings);
        const response = refusal.toResponse(propertyOf(request, 'method'));
        if (response.status >= 500) report(thrown, request, settings.onError);
        resolve(response);
        giveUp?.();
      };
      const deadline = new Deadline(deadlines, request, refuse);
      create(request, deadline, resolve);
      deadline.start();
    });
  };
}

/** The operation, one step after the other. Whatever goes wrong is refused. */
function operationOf<Caller>(
  storage: PlantStorage<Caller>,
  verifyToken: VerifyToken<Caller>,
  { basePath, bodyLimit, acceptReplays }: Complete<PlantStoreOptions>,
): (request: PlantRequest, deadline: Deadline, respond: (response: PlantResponse) => void) => Promise<void> {
  const path = `${basePath}${operation.path}`;

  // The client's faults are thrown where they are found; everybody else's are translated in faults.ts.
  return async (request, deadline, respond) => {
    try {
      checkTarget(request, path);
      const token = bearerToken(request.headers);
      const context = new Context<Caller>(request, deadline);

      // Only thenables are awaited, here and below: every `await` costs a microtask.
      deadline.turnTo(verifier);
      const verifying = verifyToken(token, context);
      const verified = isThenable(verifying) ? await verifying : verifying;
      if (verified === null || verified === undefined || verified === false) throw tokenInvalid();
      context.caller = verified;

      deadline.turnTo(library);
      checkBodyHeaders(request.headers, bodyLimit);

      deadline.turnTo(bodyOwner);
      const reading = readBody(request.body, bodyLimit, deadline);
      const plant = plantOf(isThenable(reading) ? await reading : reading, bodyLimit);
      // Copied first: a storage may change the plant object that it is given.
      const { id, name, tag } = plant;

      deadline.turnTo(storageParty);
      const outcome = await storage.create(plant, context);
      if (outcome !== 'created') {
        if (outcome !== 'taken') throw new TypeError("storage.create must return 'created' or 'taken'");
        // Again, because the deadline may have passed meanwhile: then `find` is not asked.
        deadline.turnTo(storageParty);
        const stored = acceptReplays ? await storage.find?.(id, context) : undefined;
        if (stored?.name !== name || (stored.tag ?? undefined) !== tag) throw idTaken(id);
      }

      const headers = { 'content-type': 'application/json' };
      respond({ status: 200, headers, body: JSON.stringify({ name, tag }) });
    } catch (thrown) {
      // After the deadline the answer is given already, and what still happens is dropped.
      if (!deadline.expired) deadline.refuse(thrown);
    } finally {
      deadline.close();
    }
  };
}

function checkTarget({ method, url }: PlantRequest, path: string): void {
  if (url !== path && pathOf(url) !== path) {
    throw new Refusal('not_found', { message: `This store answers ${operation.method} ${path}.` });
  }
  if (method !== operation.method) {
    throw new Refusal('method_not_allowed', { headers: { allow: operation.method } });
  }
}

function plantOf(content: Content, limit: number): NewPlant {
  const isParsed = typeof content === 'object' && 'parsed' in content;
  const plant = isParsed ? plantFromParsed(content.parsed) : plantFromText(textOf(content, limit));
  // How large a parsed body was is unknown, but certainly no smaller than these texts.
  if (plant.name.length + (plant.tag?.length ?? 0) > limit) throw tooLarge(limit);
  return plant;
}

function idTaken(id: bigint): Refusal {
  return new Refusal('id_taken', { message: `A plant with id ${id} exists. Choose another id.` });
}

/** Calls `onError` and ignores what it throws or rejects with. */
async function report(
  error: unknown,
  request: PlantRequest,
  onError: Complete<PlantStoreOptions>['onError'],
): Promise<void> {
  try {
    // An AbortError after the client has gone is expected, not a fault.
    if (!isNamed(error, 'AbortError') || !request.signal?.aborted) await onError(error, request);
  } catch {}
}
