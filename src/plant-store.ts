import type { VerifyToken } from './bearer.js';
import { checkStorage, checkVerifyToken } from './checks/arguments.js';
import { checkOptions } from './checks/rules.js';
import { logError, logStatus } from './errors/log.js';
import { ownWords } from './errors/own-words.js';
import { idTaken, methodNotAllowed, notFound } from './errors/problems.js';
import { unlessInherited } from './errors/property-of.js';
import { checkMembers, createMark, operation, type PlantHandler, type PlantRequest, pathOf } from './http.js';
import { type PlantStoreOptions, plantStoreRules } from './options.js';
import { parsePlant } from './plant/json.js';
import { toJson } from './plant/plant.js';
import { decodeBody, readBody } from './request/body.js';
import { bearerToken, callerOf, checkBodyHeaders } from './request/headers.js';
import { bodyOwner, library, storageParty, verifier } from './request/parties.js';
import { createHandler } from './request/progress.js';
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
  checkStorage(storage, settings.acceptReplays);
  checkVerifyToken(verifyToken);

  if (settings.onError === logError) unlessInherited(storage.watch, 'watch')?.(logStatus);

  const path = settings.basePath + operation.path;
  // The client's mistakes are thrown where they are found; all other errors get their meaning in parties.ts.
  const handle = createHandler<Caller>(async (progress, request) => {
    checkTarget(request, path);
    const token = bearerToken(request.headers);

    progress.enter(verifier);
    // Awaited even if it is no promise: meanwhile Node parses a body that came with the headers, which is then read at once.
    const verified = await verifyToken(token, progress.context);

    progress.enter(library);
    progress.context.caller = callerOf(verified);
    checkBodyHeaders(request.headers, settings.bodyLimit);

    progress.enter(bodyOwner);
    const content = await readBody(unlessInherited(request.body, 'body'), settings.bodyLimit, progress);
    const plant = parsePlant(decodeBody(content, settings.bodyLimit));
    // Before the storage gets the plant, which it may change.
    const { id } = plant;
    const body = toJson(plant);

    progress.enter(storageParty);
    const outcome = await storage.create(plant, progress.context);
    if (outcome === 'taken') {
      // `find` is a second step of the storage: `enter` throws if the timeout has expired in the first.
      progress.enter(storageParty);
      const stored = settings.acceptReplays ? await storage.find?.(id, progress.context) : undefined;
      const isReplay = stored && toJson(stored) === body;
      if (!isReplay) throw idTaken(id);
    } else if (outcome !== 'created') {
      throw ownWords(new TypeError("storage.create must return 'created' or 'taken'"));
    }

    progress.respond({ status: 200, headers: { 'content-type': 'application/json' }, body });
  }, settings);
  return Object.assign(handle, { [createMark]: true });
}

/** @throws {Refusal} if the request is for another path or method */
function checkTarget(request: PlantRequest, path: string): void {
  checkMembers(request);
  const { method, url, routed } = request;
  const isHere = unlessInherited(routed, 'routed') || path === url || path === pathOf(url);
  // A target has no fragment (RFC 9112 §3.2), and what is behind one, each reader takes differently.
  if (!isHere || url.includes('#')) throw notFound(path, isHere ? '' : pathOf(url));
  if (method !== operation.method) throw methodNotAllowed();
}
