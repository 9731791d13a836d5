import { checkOptions, type Rules } from '../checks/rules.js';
import { operation } from '../http.js';
import { plantStoreRules } from '../options.js';
import type { Plant } from '../plant/plant.js';
import { describeOperation, errorResponse, errorTable, headerObject, ref } from './operation.js';

/** An OpenAPI Server Object: where the operation is found. A relative `url` is relative to the document's own. */
export interface OpenApiServer {
  /** The URL before the document's paths, without a slash at its end: `https://example.com/api`. */
  url: string;
  description?: string;
}

/** The options of `openapi`. The last three are for merging its result into a document of the app. */
export interface OpenApiOptions {
  /** Default: `[{ url: '/' }]`. */
  readonly servers?: readonly OpenApiServer[] | undefined;
  /** The path before `/plants`, such as `/api`. Default: none. */
  readonly basePath?: string | undefined;
  /** Comes before the names of the three schemas: with `PlantStore`, `Error` is `PlantStoreError`. Default: none. */
  readonly prefix?: string | undefined;
  /**
   * The name of a security scheme that the app's document defines; `securitySchemes` is then empty. Default: a scheme
   * `bearerAuth` for HTTP bearer tokens.
   */
  readonly bearerAuth?: string | undefined;
}

/**
 * The document as plain data: `JSON.stringify` it, serve it, pass it to a generator. Its paths and schemas have the names
 * that `Options`, the type of the options, gives them.
 */
export type OpenApiDocument<Options extends OpenApiOptions = Record<never, never>> = Described<
  OptionOr<Options, 'basePath', ''>,
  OptionOr<Options, 'prefix', ''>,
  OptionOr<Options, 'bearerAuth', undefined>
>;

// In two steps, because what bundles the declarations overlooks the names within `typeof openapi<…>`.
type Described<
  BasePath extends string,
  Prefix extends string,
  BearerAuth extends string | undefined,
> = ReturnType<typeof openapi<BasePath, Prefix, BearerAuth>>;

/** The text of an option in its type, or `Default` if the type has none. */
type OptionOr<Options, Name, Default> = Name extends keyof Options
  ? Options[Name] extends string
    ? Options[Name]
    : Default
  : Default;

/** The security schemes of a document: its own, or none if the app names one. */
type Schemes<Name> = Name extends string
  ? Record<never, never>
  : { bearerAuth: { type: 'http'; scheme: 'bearer' } };

/**
 * Creates the contract as an OpenAPI document: the operation, its schemas, and every response that this library can send.
 * Each call returns a new object that you may change. Without options, it is the package's `openapi.json`.
 *
 * @throws {TypeError} if an option is invalid
 * @see {@link https://spec.openapis.org/oas/v3.1.0}
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { openapi } from 'plant-store/openapi';
 *
 * const document = JSON.stringify(openapi({ servers: [{ url: 'https://example.com/api' }] }));
 * createServer((_request, response) => {
 *   response.setHeader('content-type', 'application/json').end(document);
 * }).listen(3000);
 * ```
 *
 * @example Merged into the document of an app
 * ```ts
 * import { openapi } from 'plant-store/openapi';
 *
 * const own = {
 *   openapi: '3.1.0',
 *   info: { title: 'A garden', version: '2.0.0' },
 *   paths: { '/api/plants': { get: { responses: { 200: { description: 'the plants' } } } } },
 *   components: { schemas: { Error: { type: 'string' } }, securitySchemes: { jwt: { type: 'http', scheme: 'bearer' } } },
 * };
 * const { paths, components } = openapi({ basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' });
 * const path = '/api/plants';
 * const merged = {
 *   ...own,
 *   paths: { ...own.paths, [path]: { ...own.paths[path], ...paths[path] } },
 *   components: { ...own.components, schemas: { ...own.components.schemas, ...components.schemas } },
 * };
 * ```
 */
export function openapi<
  // Of each option its own, because TypeScript before 5.0 has no other way to infer the text itself.
  BasePath extends string = '',
  Prefix extends string = '',
  BearerAuth extends string | undefined = undefined,
>(
  options: OpenApiOptions & {
    readonly basePath?: BasePath | undefined;
    readonly prefix?: Prefix | undefined;
    readonly bearerAuth?: BearerAuth | undefined;
  } = {},
) {
  const { servers, basePath, prefix, bearerAuth } = checkOptions<OpenApiOptions>(options, rules);
  const path = `${basePath as BasePath}${operation.path}` as const;
  const scheme = bearerAuth as BearerAuth extends string ? BearerAuth : 'bearerAuth';
  const security = () => [entryOf(scheme, [] as string[])];
  const schemes = options.bearerAuth === undefined ? { bearerAuth: { type: 'http', scheme: 'bearer' } } : {};
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Adds plants to a store.',
    },
    servers: servers.map((server) => ({ ...server })),
    tags: [{ name: 'plants', description: 'The plants in the store.' }],
    security: security(),
    // The security is said again on the operation, because a merge takes the operation alone.
    paths: entryOf(path, { post: { ...describeOperation(prefix), security: security() } }),
    components: {
      securitySchemes: schemes as Schemes<BearerAuth>,
      schemas: schemas(prefix as Prefix),
    },
    // Not responses of this operation: a standalone server sends them for other paths and methods.
    'x-responses': {
      '404': errorResponse(prefix, 404, 'unknown path'),
      '405': errorResponse(prefix, 405, 'method not allowed', {
        Allow: headerObject('Methods that this path supports (RFC 9110 §10.2.1).', operation.method),
      }),
    },
  };
}

/** @see {@link https://spec.openapis.org/oas/v3.1.0#components-object} */
const isComponentName = (value: unknown) => typeof value === 'string' && /^[\w.-]+$/.test(value);

const nameRule = 'a name of letters, digits, ".", "-" and "_"';

const rules: Rules<OpenApiOptions> = {
  servers: [
    [{ url: '/' }],
    (value) => Array.isArray(value) && value.every((server) => typeof server?.url === 'string'),
    'an array of objects with a url',
  ],
  basePath: plantStoreRules.basePath,
  prefix: ['', (value) => value === '' || isComponentName(value), `empty or ${nameRule}`],
  bearerAuth: ['bearerAuth', isComponentName, nameRule],
};

/** An object with one member. */
function entryOf<Name extends string, Value>(name: Name, value: Value) {
  return { [name]: value } as { [Key in Name]: Value };
}

function schemas<Prefix extends string>(prefix: Prefix) {
  const plant = object(['name'], {
    name: string('The name of the plant'),
    tag: string('Tag that specifies the type of the plant'),
  } satisfies Record<keyof Plant, object>);
  const identified = object(['id'], { id: int('int64', 'Identification number of the plant') });
  const error = object(['error', 'message'], {
    error: int('int32', 'Numeric error value'),
    message: string('Text of the error'),
  });
  const description = `Why a request failed: a stable code for programs and a message for people.\n\n${errorTable()}`;
  const allOf: [ReturnType<typeof ref>, typeof identified] = [ref(prefix, 'Plant'), identified];
  return {
    ...entryOf(`${prefix}Plant` as const, plant),
    ...entryOf(`${prefix}NewPlant` as const, { allOf }),
    ...entryOf(`${prefix}Error` as const, { description, ...error }),
  };
}

const string = (description: string) => ({ type: 'string' as const, description });

const int = (format: string, description: string) => ({ type: 'integer' as const, format, description });

const object = <Properties>(required: string[], properties: Properties) => ({
  type: 'object' as const,
  required,
  properties,
});
