import { operation } from './http.js';
import { describeOperation, errorResponse, errorTable, header, ref } from './openapi-operation.js';
import { checkOptions, plantStoreRules, type Rules } from './options.js';
import type { Plant } from './plant/plant.js';

/** An OpenAPI Server Object: where the operation is found. A relative `url` is relative to the document's own. */
export interface OpenApiServer {
  /** The URL before the document's paths, without a slash at its end: `https://example.com/api`. */
  url: string;
  description?: string;
}

/** The options of `openapi`. The last three are for merging its result into a document of the app. */
export interface OpenApiOptions<
  BasePath extends string = string,
  Prefix extends string = string,
  BearerAuth extends string | undefined = string | undefined,
> {
  /** Default: `[{ url: '/' }]`. */
  readonly servers?: OpenApiServer[] | undefined;
  /** The path before `/plants`, such as `/api`. Default: none. */
  readonly basePath?: BasePath | undefined;
  /** Comes before the names of the three schemas: with `PlantStore`, `Error` is `PlantStoreError`. Default: none. */
  readonly prefix?: Prefix | undefined;
  /**
   * The name of a security scheme that the app's document defines; `securitySchemes` is then empty. Default: a scheme
   * `bearerAuth` for HTTP bearer tokens.
   */
  readonly bearerAuth?: BearerAuth | undefined;
}

/** The document as plain data: `JSON.stringify` it, serve it, pass it to a generator. */
export type OpenApiDocument<
  BasePath extends string = '',
  Prefix extends string = '',
  BearerAuth extends string | undefined = undefined,
> = ReturnType<typeof openapi<BasePath, Prefix, BearerAuth>>;

type Named<Name extends string, Value> = { [Key in Name]: Value };

/** A key with `as`, because TypeScript would infer `BearerAuth` from it in `const document: OpenApiDocument = openapi()`. */
type Security<BearerAuth> = {
  [Name in 'bearerAuth' as BearerAuth extends string ? BearerAuth : Name]: string[];
};

/** The security scheme of an app that names none. */
type OwnScheme = { bearerAuth: { type: 'http'; scheme: 'bearer' } };

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
 *   paths: { '/api/beds': {} },
 *   components: { schemas: { Error: { type: 'string' } }, securitySchemes: { jwt: { type: 'http', scheme: 'bearer' } } },
 * };
 * const { paths, components } = openapi({ basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' });
 * const merged = {
 *   ...own,
 *   paths: { ...own.paths, ...paths },
 *   components: { ...own.components, schemas: { ...own.components.schemas, ...components.schemas } },
 * };
 * ```
 */
export function openapi<
  BasePath extends string = '',
  Prefix extends string = '',
  BearerAuth extends string | undefined = undefined,
>(options: OpenApiOptions<BasePath, Prefix, BearerAuth> = {}) {
  const { servers, basePath, prefix, bearerAuth } = checkOptions<OpenApiOptions>(options, rules());
  const path = `${basePath as BasePath}${operation.path}` as const;
  const security = () => [named(bearerAuth, [] as string[]) as Security<BearerAuth>];
  const ownScheme = { bearerAuth: { type: 'http', scheme: 'bearer' } };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Adds plants to a store.',
    },
    servers,
    tags: [{ name: 'plants', description: 'The plants in the store.' }],
    security: security(),
    // The security is said again on the operation, because a merge takes the operation alone.
    paths: named(path, { post: { ...describeOperation(prefix), security: security() } }),
    components: {
      securitySchemes: (options.bearerAuth === undefined ? ownScheme : {}) as BearerAuth extends string
        ? Record<never, never>
        : OwnScheme,
      schemas: schemas(prefix as Prefix),
    },
    // Not responses of this operation: a standalone server sends them for other paths and methods.
    'x-responses': {
      '404': errorResponse(prefix, 404, 'unknown path'),
      '405': {
        ...errorResponse(prefix, 405, 'method not allowed'),
        headers: {
          Allow: header('Methods that this path supports (RFC 9110 §10.2.1).', operation.method),
        },
      },
    },
  };
}

/** Made anew for each document, which its owner may change. */
function rules(): Rules<OpenApiOptions> {
  return {
    servers: [
      [{ url: '/' }],
      (value) => Array.isArray(value) && value.every((server) => typeof server?.url === 'string'),
      'an array of objects with a url',
    ],
    basePath: plantStoreRules.basePath,
    prefix: ['', (value) => value === '' || isName(value), `empty or ${nameRule}`],
    bearerAuth: ['bearerAuth', isName, nameRule],
  };
}

/** @see {@link https://spec.openapis.org/oas/v3.1.0#components-object} */
const isName = (value: unknown) => typeof value === 'string' && /^[\w.-]+$/.test(value);

const nameRule = 'a name of letters, digits, ".", "-" and "_"';

/** An object with one member. */
function named<Name extends string, Value>(name: Name, value: Value) {
  return { [name]: value } as Named<Name, Value>;
}

function schemas<Prefix extends string>(prefix: Prefix) {
  const plant = {
    type: 'object' as const,
    required: ['name'],
    properties: {
      name: { type: 'string' as const, description: 'The name of the plant' },
      tag: { type: 'string' as const, description: 'Tag that specifies the type of the plant' },
    } satisfies Record<keyof Plant, object>,
  };
  const identified = {
    type: 'object' as const,
    required: ['id'],
    properties: {
      id: { type: 'integer' as const, format: 'int64', description: 'Identification number of the plant' },
    },
  };
  const allOf: [ReturnType<typeof ref>, typeof identified] = [ref(prefix, 'Plant'), identified];
  const error = {
    description: `Why a request failed: a stable code for programs and a message for people.\n\n${errorTable()}`,
    type: 'object' as const,
    required: ['error', 'message'],
    properties: {
      error: { type: 'integer' as const, format: 'int32', description: 'Numeric error value' },
      message: { type: 'string' as const, description: 'Text of the error' },
    },
  };
  return {
    ...named(`${prefix}Plant` as const, plant),
    ...named(`${prefix}NewPlant` as const, { allOf }),
    ...named(`${prefix}Error` as const, error),
  };
}
