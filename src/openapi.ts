import { operation } from './http.js';
import type { Plant } from './plant/plant.js';
import { problems } from './problems.js';

/** An OpenAPI Server Object: where the operation is found. A relative `url` is relative to the document's own. */
export interface OpenApiServer {
  /** What comes before `/plants`, without a slash at its end: `https://example.com/api`. */
  url: string;
  description?: string;
}

/** The document as plain data: `JSON.stringify` it, serve it, pass it to a generator. */
export type OpenApiDocument = ReturnType<typeof openapi>;

/**
 * The contract as an OpenAPI document: the operation, its schemas, and every response that this library can send.
 * Each call returns a new object that you may change. With the default server, `/`, it is the package's `openapi.json`.
 *
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
 */
export function openapi({ servers = [{ url: '/' }] }: { servers?: OpenApiServer[] } = {}) {
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
    security: [{ bearerAuth: [] as string[] }],
    paths: {
      [operation.path]: {
        post: {
          tags: ['plants'],
          operationId: 'createPlant',
          summary: 'Create a plant',
          description:
            'Creates a plant with an unused id. Members other than `id`, `name` and `tag` are ignored.',
          requestBody: {
            description:
              'Plant to add to the store. The id may be any 64-bit integer and is kept exact. Strings have neither U+0000 nor lone surrogates.',
            required: true,
            content: {
              'application/json': {
                schema: { $ref: '#/components/schemas/NewPlant' },
                examples: {
                  rose: { summary: 'A plant', value: { id: 1, name: 'Rosa canina', tag: 'shrub' } },
                  untagged: { summary: 'A plant without a tag', value: { id: 2, name: 'Quercus robur' } },
                },
              },
            },
          },
          responses: {
            '200': {
              description: 'plant response',
              content: {
                'application/json': {
                  schema: { $ref: '#/components/schemas/Plant' },
                  example: { name: 'Rosa canina', tag: 'shrub' },
                },
              },
            },
            '400': errorResponse(400, 'unexpected error'),
            '401': {
              ...errorResponse(401, 'missing or invalid token'),
              headers: {
                'WWW-Authenticate': header(
                  'Bearer challenge (RFC 6750 §3), with an `error` attribute if a token was sent.',
                  'Bearer realm="plants", error="invalid_token"',
                ),
              },
            },
            '403': {
              ...errorResponse(403, 'valid token without the required scope'),
              headers: {
                'WWW-Authenticate': header(
                  'Bearer challenge (RFC 6750 §3), with the required `scope`.',
                  'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
                ),
              },
            },
            '500': errorResponse(500, 'server error'),
            '503': {
              ...errorResponse(503, 'storage unavailable or timed out'),
              headers: {
                'Retry-After': {
                  description: 'Seconds to wait. Present only where sending the request again is safe.',
                  required: false,
                  schema: { type: 'integer' as const, minimum: 0 },
                  example: 1,
                },
              },
            },
          },
        },
      },
    },
    components: {
      securitySchemes: { bearerAuth: { type: 'http' as const, scheme: 'bearer' } },
      schemas: {
        Plant: {
          type: 'object' as const,
          required: ['name'],
          properties: {
            name: { type: 'string' as const, description: 'The name of the plant' },
            tag: { type: 'string' as const, description: 'Tag that specifies the type of the plant' },
          } satisfies Record<keyof Plant, object>,
        },
        NewPlant: {
          allOf: [
            { $ref: '#/components/schemas/Plant' },
            {
              type: 'object' as const,
              required: ['id'],
              properties: {
                id: {
                  type: 'integer' as const,
                  format: 'int64',
                  description: 'Identification number of the plant',
                },
              },
            },
          ],
        },
        Error: {
          description: `Why a request failed: a stable code for programs and a message for people.\n\n${errorTable()}`,
          type: 'object' as const,
          required: ['error', 'message'],
          properties: {
            error: { type: 'integer' as const, format: 'int32', description: 'Numeric error value' },
            message: { type: 'string' as const, description: 'Text of the error' },
          },
        },
      },
    },
    // Not responses of this operation: a standalone server sends them for other paths and methods.
    'x-responses': {
      '404': errorResponse(404, 'unknown path'),
      '405': {
        ...errorResponse(405, 'method not allowed'),
        headers: {
          Allow: header('Methods that this path supports (RFC 9110 §10.2.1).', operation.method),
        },
      },
    },
  };
}

/** A response that carries the contract's Error, with an example for each problem of this status. */
function errorResponse(status: number, description: string) {
  const examples: Record<string, { summary: string; value: { error: number; message: string } }> = {};
  for (const [name, [error, message]] of Object.entries(problems)) {
    if (Math.trunc(error / 100) === status) {
      examples[name] = { summary: `${error} ${name}: ${message}`, value: { error, message } };
    }
  }
  return {
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  };
}

/** A header that is always present. */
function header(description: string, example: string) {
  return { description, required: true, schema: { type: 'string' as const }, example };
}

function errorTable(): string {
  const rows = Object.entries(problems).map(
    ([name, [error, sentence]]) => `| ${error} | \`${name}\` | ${sentence} |`,
  );
  return ['| `error` | name | message |', '| --- | --- | --- |', ...rows].join('\n');
}
