import { bearerToken, callerOf, type VerifyToken } from './bearer.js';
import { checkBodyHeaders, readBody } from './body.js';
import { Context } from './context.js';
import { Deadline } from './deadline.js';
import {
  isThenable,
  operation,
  type PlantHandler,
  type PlantRequest,
  type PlantResponse,
  pathOf,
} from './http.js';
import { respondToMistake } from './mount-mistakes.js';
import { type Complete, checkOptions, type PlantStoreOptions, plantStoreRules } from './options.js';
import { bodyOwner, library, type Party, storageParty, verifier } from './parties.js';
import { plantOf } from './plant/from-body.js';
import type { Plant, Whole } from './plant/plant.js';
import { idTaken, isRefusal, notFound, propertyOf, Refusal } from './problems.js';
import { report } from './report.js';
import type { PlantStorage } from './storage.js';

/**
 * Creates the handler for `POST /plants`: `(request) => Promise<response>`, which never rejects. Mount it with an
 * adapter (`plant-store/node`, `/express`, `/koa`, `/fastify`, `/fetch`), or call it yourself.
 *
 * @throws {TypeError} if an argument or option is invalid
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
  if (settings.acceptReplays && !storage.find) throw new TypeError('acceptReplays requires storage.find');
  return handlerOf(creation(storage, verifyToken, settings), settings);
}

/** A request's way in: takes its steps one after the other, and ends with `progress.respond` or `progress.refuse`. */
export type Operation = (request: PlantRequest, progress: Progress) => Promise<void>;

/** The operation. The client's mistakes are thrown where they are found; all other errors get their meaning in parties.ts. */
function creation<Caller>(
  storage: PlantStorage<Caller>,
  verifyToken: VerifyToken<Caller>,
  { basePath, bodyLimit, acceptReplays }: Complete<PlantStoreOptions>,
): Operation {
  const path = basePath + operation.path;

  return async (request, progress) => {
    try {
      checkTarget(request, path);
      const token = bearerToken(request.headers);
      const context = new Context<Caller>(request, progress.deadline);

      progress.enter(verifier);
      context.caller = callerOf(await verifyToken(token, context));

      progress.enter(library);
      checkBodyHeaders(request.headers, bodyLimit);

      progress.enter(bodyOwner);
      const reading = readBody(request.body, bodyLimit, progress);
      // Hosts on Node have the bytes already: awaiting them would cost 0.1 µs.
      const plant = plantOf(isThenable(reading) ? await reading : reading, bodyLimit);
      // Before the storage gets the plant, which it may change.
      const { id } = plant;
      const body = bodyOf(plant);

      progress.enter(storageParty);
      const outcome = await storage.create(plant, context);
      if (outcome !== 'created') {
        if (outcome !== 'taken') throw new TypeError("storage.create must return 'created' or 'taken'");
        // Again, because the deadline may have expired meanwhile: then `find` is not called.
        progress.enter(storageParty);
        const stored = acceptReplays ? await storage.find?.(id, context) : undefined;
        if (!stored || bodyOf(stored) !== body) throw idTaken(id);
      }

      progress.respond({ status: 200, headers: { 'content-type': 'application/json' }, body });
    } catch (thrown) {
      progress.refuse(thrown);
    }
  };
}

/** Runs an operation within its deadline. */
export function handlerOf(run: Operation, settings: Complete<PlantStoreOptions>): PlantHandler {
  return function handle(request, index) {
    return new Promise((resolve) => {
      // An object is a host's response, environment or next handler: the adapter was forgotten.
      if (Object(index) === index) return resolve(respondToMistake(request, index));
      const progress = new Progress(request, settings, resolve);
      run(request, progress);
      progress.startDeadline();
    });
  };
}

const settled = Promise.resolve();

/** One request between its first step and its one response. */
export class Progress {
  /** Called if the request is refused while its body is being read. */
  abandonBody: (() => unknown) | undefined;
  readonly deadline: Deadline;
  /** Who is working now, and gets the blame if the deadline expires. */
  #party = library;
  readonly #settings: Complete<PlantStoreOptions>;
  readonly #resolve: (response: PlantResponse) => void;

  constructor(
    readonly request: PlantRequest,
    settings: Complete<PlantStoreOptions>,
    resolve: (response: PlantResponse) => void,
  ) {
    this.deadline = new Deadline(settings.timeoutMs, request);
    this.#settings = settings;
    this.#resolve = resolve;
  }

  /** Begins a party's step. Throws after the deadline, because nothing is done for a request that has its response. */
  enter(party: Party): void {
    if (this.deadline.expired) throw this.deadline.expired;
    this.#party = party;
  }

  respond(response: PlantResponse): void {
    this.deadline.close();
    this.#resolve(response);
  }

  /** The one way out: whatever was thrown becomes a response, and a 5xx is reported. */
  refuse(thrown: unknown): void {
    const { expired, isClosed } = this.deadline;
    // After the deadline the response is sent already, and a late error is dropped.
    if (isClosed) return;
    const refusal = isRefusal(thrown)
      ? thrown
      : this.#party.onThrow(thrown, Boolean(expired), this.#settings);
    const response = refusal.toResponse(propertyOf(this.request, 'method'));
    if (response.status >= 500) report(thrown, this.request, this.#settings.onError);
    this.respond(response);
    this.abandonBody?.();
  }

  /** Starts the timer a microtask later, because work that is already done needs none. Gain: 0.7 µs a request. */
  startDeadline(): void {
    let party = this.#party;
    const startUnlessBusy = (): void => {
      if (this.deadline.isClosed) return;
      if (party !== this.#party) {
        // That step finished synchronously: look again at the next one.
        party = this.#party;
        settled.then(startUnlessBusy);
      } else this.deadline.start(() => this.refuse(this.deadline.expire(this.#party.name)));
    };
    settled.then(startUnlessBusy);
  }
}

function checkTarget({ method, url }: PlantRequest, path: string): void {
  if (url !== path && pathOf(url) !== path) throw notFound(path);
  if (method !== operation.method) {
    throw new Refusal('method_not_allowed', { headers: { allow: operation.method } });
  }
}

/** The body of a 200. An identical plant has the same. */
function bodyOf({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag: tag ?? undefined } satisfies Whole<Plant>);
}
