import { boolean, callback, integer, type Rules } from './checks/rules.js';
import { logError } from './errors/log.js';
import type { ErrorNumber } from './errors/numbers.js';
import { isPath, type MaybePromise, type PlantRequest } from './http.js';

/** The options of `createPlantStore`. */
export interface PlantStoreOptions {
  /** URL prefix before `/plants`, for hosts that pass the full path, such as `/api`. Default: none. */
  readonly basePath?: string | undefined;
  /** The largest request body, in bytes. Default: 1 048 576. */
  readonly bodyLimit?: number | undefined;
  /** The time limit of a request in milliseconds; 0 for none. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Returns 200 again for an identical plant, so that clients can retry. Requires `storage.find`. Default: false. */
  readonly acceptReplays?: boolean | undefined;
  /**
   * Called once for every 5xx, with its cause and its error number, by which you can choose the level of a log line. It cannot change the
   * response. A host's request shows neither credentials nor `raw` if it is logged as a whole, but the error may quote the request.
   * Default, also if this function fails: writes one line to `console.error` without any text of other people's errors, for each cause at
   * most once a second, with a count. For development, `logWithMessages` also prints the error.
   */
  readonly onError?:
    | ((error: unknown, request: PlantRequest, code: ErrorNumber) => MaybePromise<void>)
    | undefined;
}

export const plantStoreRules: Rules<PlantStoreOptions> = {
  basePath: [
    '',
    (value) => typeof value === 'string' && isPath(value),
    'a percent-encoded path that starts with "/" and does not end with one, such as "/api"',
  ],
  bodyLimit: integer(1_048_576, 1, Number.MAX_SAFE_INTEGER),
  timeoutMs: integer(30_000, 0),
  acceptReplays: boolean(false),
  onError: callback(logError),
};
