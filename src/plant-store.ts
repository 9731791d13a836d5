import { bearerToken, tokenInvalid, type VerifyToken } from './bearer.js';
import { type Content, checkBodyHeaders, readBody, textOf, tooLarge } from './body.js';
import { Context } from './context.js';
import { Deadline, Deadlines } from './deadline.js';
import { bodyFault, type Fault, internalFault, storageFault, verifierFault } from './faults.js';
import { isThenable, type PlantHandler, type PlantRequest, pathOf } from './http.js';
import { answerMistake } from './misuse.js';
import { type Complete, checkOptions, type PlantStoreOptions, plantStoreRules } from './options.js';
import { type NewPlant, plantFromParsed, plantFromText } from './plant.js';
import { isNamed, isRefusal, Refusal } from './problems.js';
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
  return handlerOf(storage, verifyToken, settings);
}

function handlerOf<Caller>(
  storage: PlantStorage<Caller>,
  verifyToken: VerifyToken<Caller>,
  settings: Complete<PlantStoreOptions>,
): PlantHandler {
  const { bodyLimit, acceptReplays } = settings;
  const path = `${settings.basePath}/plants`;
  const deadlines = new Deadlines(settings.timeoutMs);

  // The client's faults are thrown where they are found; everybody else's are translated in faults.ts.
  return async function handle(request, index) {
    // An object is a host's response, environment or next handler: the adapter was forgotten.
    if (index !== undefined && Object(index) === index) return answerMistake(request, index);
    const deadline = new Deadline(deadlines, request);
    let onThrow: Fault = internalFault;
    try {
      checkTarget(request, path);
      const token = bearerToken(request.headers);
      const context = new Context<Caller>(request, deadline);

      // Only thenables are awaited, here and below: every `await` costs a microtask.
      onThrow = verifierFault;
      const verifying = verifyToken(token, context);
      const verified = isThenable(verifying) ? await deadline.within('verifyToken', verifying) : verifying;
      context.caller = callerOrRefuse(verified);

      onThrow = internalFault;
      checkBodyHeaders(request.headers, bodyLimit);

      onThrow = bodyFault;
      const reading = readBody(request.body, bodyLimit, deadline);
      const plant = plantOf(isThenable(reading) ? await reading : reading, bodyLimit);
      // Copied first: a storage may change the plant object that it is given.
      const { id, name, tag } = plant;

      onThrow = storageFault;
      const creating = storage.create(plant, context);
      const outcome = isThenable(creating) ? await deadline.within('storage.create', creating) : creating;
      if (outcome !== 'created') {
        const mayReplay = acceptReplays && outcome === 'taken';
        if (!mayReplay || !(await isStored({ id, name, tag }, storage, context, deadline))) {
          throw notCreated(id, outcome);
        }
      }

      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: JSON.stringify({ name, tag }) };
    } catch (thrown) {
      const refusal = isRefusal(thrown) ? thrown : onThrow(thrown, deadline, settings);
      if ('cause' in refusal.details) report(refusal.details.cause, request, settings.onError);
      return refusal.toResponse();
    } finally {
      deadline.close();
    }
  };
}

function checkTarget({ method, url }: PlantRequest, path: string): void {
  const bodyless = method === 'HEAD';
  if (url !== path && pathOf(url) !== path) {
    throw new Refusal('not_found', { message: `This store answers POST ${path}.`, bodyless });
  }
  if (method !== 'POST') throw new Refusal('method_not_allowed', { headers: { allow: 'POST' }, bodyless });
}

function callerOrRefuse<Caller>(verified: Caller | false | null | undefined): Caller {
  if (verified === null || verified === undefined || verified === false) throw tokenInvalid();
  return verified;
}

function plantOf(content: Content, limit: number): NewPlant {
  const isParsed = typeof content === 'object' && 'parsed' in content;
  const plant = isParsed ? plantFromParsed(content.parsed) : plantFromText(textOf(content, limit));
  // How large a parsed body was is unknown, but certainly no smaller than these texts.
  if (plant.name.length + (plant.tag?.length ?? 0) > limit) throw tooLarge(limit);
  return plant;
}

function notCreated(id: bigint, outcome: unknown): Refusal | TypeError {
  return outcome === 'taken'
    ? new Refusal('id_taken', { message: `A plant with id ${id} exists. Choose another id.` })
    : new TypeError("storage.create must return 'created' or 'taken'");
}

/** Whether the storage holds a plant that is equal in every member. */
async function isStored<Caller>(
  plant: NewPlant,
  storage: PlantStorage<Caller>,
  context: Context<Caller>,
  deadline: Deadline,
): Promise<boolean> {
  const finding = storage.find?.(plant.id, context);
  const stored = isThenable(finding) ? await deadline.within('storage.find', finding) : finding;
  return stored?.name === plant.name && (stored.tag ?? undefined) === plant.tag;
}

/** Calls `onError` and ignores what it throws or rejects with. */
function report(
  error: unknown,
  request: PlantRequest,
  onError: NonNullable<PlantStoreOptions['onError']>,
): void {
  try {
    // An AbortError after the client has gone is expected, not a fault.
    if (isNamed(error, 'AbortError') && request.signal?.aborted) return;
    const reporting = onError(error, request);
    if (isThenable(reporting)) reporting.then(undefined, () => {});
  } catch {}
}
