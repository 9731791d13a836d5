import {
  bearerToken,
  type InsufficientScope,
  scopeInsufficient,
  tokenInvalid,
  type VerifyToken,
} from './bearer.js';
import { BodyError, bodyRefusal, type Content, checkBodyHeaders, readBody, textOf } from './body.js';
import { Deadline } from './deadline.js';
import {
  isBytes,
  isPromise,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
  pathOf,
  type Signal,
} from './http.js';
import { checkOptions, type PlantStoreOptions } from './options.js';
import { type NewPlant, plantFromParsed, plantFromText } from './plant.js';
import { isNamed, Refusal } from './problems.js';
import type { PlantRefused, PlantStorage, StorageBusy, StorageContext } from './storage.js';

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
  const { basePath, bodyLimit, timeoutMs, acceptReplays, onError } = checkOptions(options);
  if (typeof storage?.create !== 'function') throw new TypeError('storage.create must be a function');
  if (typeof verifyToken !== 'function') throw new TypeError('verifyToken must be a function');
  if (acceptReplays && !storage.find) throw new TypeError('acceptReplays needs storage.find');
  const path = `${basePath}/plants`;

  return async function handle(request: PlantRequest): Promise<PlantResponse> {
    const deadline = new Deadline(timeoutMs, request);
    // What a throw means: it changes with whose code is at work.
    let refusalOf: RefusalOf = internalError;
    try {
      checkTarget(request, path);
      const token = bearerToken(request.headers);
      const context = new Context<Caller>(request, deadline);

      // Promises alone are awaited: each await gives way once, and what is there already need not.
      refusalOf = verificationRefusal;
      const verifying = verifyToken(token, context);
      const verified = isPromise(verifying) ? await deadline.within('verifyToken', verifying) : verifying;
      context.caller = accepted(verified);

      refusalOf = internalError;
      checkBodyHeaders(request.headers, bodyLimit);

      refusalOf = unreadBody;
      const reading = readBody(request.body, bodyLimit);
      const content = isPromise(reading) ? await deadline.within('the body', reading) : reading;

      refusalOf = internalError;
      const plant = plantOf(content);
      // Kept apart before the storage has the plant, for a storage may change what it is given.
      const { id, name, tag } = plant;

      refusalOf = storageRefusal;
      const creating = storage.create(plant, context);
      const outcome = isPromise(creating) ? await deadline.within('storage.create', creating) : creating;
      if (outcome === 'taken') await replay({ id, name, tag }, context, deadline);
      else if (outcome !== 'created') throw new TypeError(wrongOutcome);

      refusalOf = internalError;
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name, tag }),
      };
    } catch (thrown) {
      const refusal = isRefusal(thrown) ? thrown : refusalOf(thrown, deadline);
      if ('cause' in refusal.details) report(refusal.details.cause, request);
      return refusal.toResponse();
    } finally {
      deadline.close();
    }
  };

  /** The content as a plant. */
  function plantOf(content: Content): NewPlant {
    if (typeof content === 'string' || isBytes(content)) return plantFromText(textOf(content, bodyLimit));
    try {
      // A body of another kind is a fault of the host: of the client's plant it says nothing.
      if (!('parsed' in content)) throw new BodyError('body_unreadable', 'the body is no PlantBody');
      return plantFromParsed(content.parsed);
    } catch (error) {
      throw error instanceof Refusal ? error : bodyRefusal(error, bodyLimit);
    }
  }

  /** Lets a create of a taken id pass if it is the create of the plant that has it. */
  async function replay(plant: NewPlant, context: StorageContext<Caller>, deadline: Deadline): Promise<void> {
    if (acceptReplays) {
      const finding = storage.find?.(plant.id, context);
      const stored = isPromise(finding) ? await deadline.within('storage.find', finding) : finding;
      if (stored?.name === plant.name && (stored.tag ?? undefined) === plant.tag) return;
    }
    throw new Refusal('id_taken', { message: `A plant with id ${plant.id} exists.` });
  }

  function unreadBody(error: unknown, { expired }: Deadline): Refusal {
    return expired && error === expired ? new Refusal('body_incomplete') : bodyRefusal(error, bodyLimit);
  }

  function storageRefusal(error: unknown, { expired }: Deadline): Refusal {
    if (expired && error === expired) {
      // Only a client whose replay is recognised may send an unknown outcome again.
      const headers = acceptReplays ? { 'retry-after': '1' } : {};
      return new Refusal('timed_out', { cause: error, headers });
    }
    if (isNamed<PlantRefused>(error, 'PlantRefused')) {
      return new Refusal('plant_refused', { message: error.message });
    }
    if (isNamed<StorageBusy>(error, 'StorageBusy')) {
      return new Refusal('busy', { cause: error, headers: { 'retry-after': '1' } });
    }
    return new Refusal('storage_failed', { cause: error });
  }

  /** Tells `onError`, whatever it does: it may throw, or be async and reject. */
  function report(error: unknown, request: PlantRequest): void {
    try {
      // A storage or verifier that stops because the client is gone did what it was asked to do.
      if (isNamed(error, 'AbortError') && request.signal?.aborted) return;
      const told = onError(error, request);
      if (isPromise(told)) told.then(undefined, () => {});
    } catch {}
  }
}

/** One shape for every request: with a getter of its own, each would be a new shape to V8, at several microseconds. */
class Context<Caller> implements StorageContext<Caller> {
  caller = undefined as Caller;
  declare readonly signal: Signal;
  readonly #deadline: Deadline;

  constructor(
    readonly request: PlantRequest,
    deadline: Deadline,
  ) {
    this.#deadline = deadline;
    // Its own, not its class's, so that `{...context}` has it too.
    Object.defineProperty(this, 'signal', Context.#signalProperty);
  }

  static readonly #signalProperty = {
    enumerable: true,
    // Asked for, for nobody pays for a signal that nobody reads.
    get(this: Context<unknown>): Signal {
      return this.#deadline.signal;
    },
  };
}

function checkTarget({ method, url }: PlantRequest, path: string): void {
  const bodyless = method === 'HEAD';
  if (url !== path && pathOf(url) !== path) {
    throw new Refusal('not_found', { message: `This store answers POST ${path}.`, bodyless });
  }
  if (method !== 'POST') throw new Refusal('method_not_allowed', { headers: { allow: 'POST' }, bodyless });
}

function isRefusal(thrown: unknown): thrown is Refusal {
  try {
    return thrown instanceof Refusal;
  } catch {
    return false; // Of a revoked proxy not even that can be asked.
  }
}

type RefusalOf = (error: unknown, deadline: Deadline) => Refusal;

function internalError(error: unknown): Refusal {
  return new Refusal('internal_error', { cause: error });
}

function verificationRefusal(error: unknown): Refusal {
  return isNamed<InsufficientScope>(error, 'InsufficientScope')
    ? scopeInsufficient(error)
    : new Refusal('verification_failed', { cause: error });
}

function accepted<Caller>(verified: Caller | false | null | undefined): Caller {
  if (verified === null || verified === undefined || verified === false) throw tokenInvalid();
  return verified;
}

const wrongOutcome = "storage.create must answer 'created' or 'taken'";
