import { type Problem, problems } from './problems.js';

/** Whether to send a request again after an error: a cell of the document's table, and a sentence for each example. */
const again = {
  changed: ['after a change', 'Do not send the request again unchanged: it would fail again.'],
  token: ['with another token', 'Send the request again with another token.'],
  no: ['no', 'Do not send the request again: only the operator can fix this.'],
  yes: ['yes', 'Send the request again: nothing was stored.'],
  unknown: [
    'only with acceptReplays',
    'The plant may be stored. Send the request again only if the server accepts replays; otherwise a 40003 can mean that this request stored the plant.',
  ],
  timeout: [
    'only after Retry-After',
    'The plant may be stored. Send the request again only if the response has Retry-After; otherwise a 40003 can mean that this request stored the plant.',
  ],
} as const;

const retries: Readonly<Record<Problem, keyof typeof again>> = {
  body_not_json: 'changed',
  plant_invalid: 'changed',
  id_taken: 'changed',
  plant_refused: 'changed',
  media_type_unsupported: 'changed',
  body_too_large: 'changed',
  body_incomplete: 'yes',
  token_missing: 'token',
  token_invalid: 'token',
  scope_insufficient: 'token',
  not_found: 'changed',
  method_not_allowed: 'changed',
  internal_error: 'unknown',
  storage_failed: 'unknown',
  verification_failed: 'yes',
  body_unreadable: 'no',
  storage_rejected: 'no',
  busy: 'yes',
  timed_out: 'timeout',
};

/** A reference to a schema of the document. */
export function ref(prefix: string, name: 'Plant' | 'NewPlant' | 'Error') {
  return { $ref: `#/components/schemas/${prefix}${name}` };
}

/** The operation as the document describes it. */
export function describeOperation(prefix: string) {
  return {
    tags: ['plants'],
    operationId: 'createPlant',
    summary: 'Create a plant',
    description: 'Creates a plant with an unused id. Members other than `id`, `name` and `tag` are ignored.',
    requestBody: {
      description:
        'Plant to add to the store. The id may be any 64-bit integer and is kept exact. Strings have neither U+0000 nor lone surrogates.',
      required: true,
      content: {
        'application/json': {
          schema: ref(prefix, 'NewPlant'),
          examples: {
            rose: { summary: 'A plant', value: { id: 1, name: 'Rosa canina', tag: 'shrub' } },
            untagged: { summary: 'A plant without a tag', value: { id: 2, name: 'Quercus robur' } },
          },
        },
      },
    },
    responses: responses(prefix),
  };
}

function responses(prefix: string) {
  const failure = (status: number, description: string) => errorResponse(prefix, status, description);
  return {
    '200': {
      description: 'plant response',
      content: {
        'application/json': {
          schema: ref(prefix, 'Plant'),
          example: { name: 'Rosa canina', tag: 'shrub' },
        },
      },
    },
    '400': failure(400, 'unexpected error'),
    '401': {
      ...failure(401, 'missing or invalid token'),
      headers: {
        'WWW-Authenticate': header(
          'Bearer challenge (RFC 6750 §3), with an `error` attribute if a token was sent.',
          'Bearer realm="plants", error="invalid_token"',
        ),
      },
    },
    '403': {
      ...failure(403, 'valid token without the required scope'),
      headers: {
        'WWW-Authenticate': header(
          'Bearer challenge (RFC 6750 §3), with the required `scope`.',
          'Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
        ),
      },
    },
    '500': failure(500, 'server error'),
    '503': {
      ...failure(503, 'storage unavailable or timed out'),
      headers: {
        'Retry-After': {
          description: 'Seconds to wait. Present only where sending the request again is safe.',
          required: false,
          schema: { type: 'integer' as const, minimum: 0 },
          example: 1,
        },
      },
    },
  };
}

/** A response that carries the contract's Error, with an example for each problem of this status. */
export function errorResponse(prefix: string, status: number, description: string) {
  type Example = { summary: string; description: string; value: { error: number; message: string } };
  const examples: Record<string, Example> = {};
  for (const [name, [error, message]] of Object.entries(problems)) {
    if (Math.trunc(error / 100) === status) {
      examples[name] = {
        summary: `${error} ${name}: ${message}`,
        description: again[retries[name as Problem]][1],
        value: { error, message },
      };
    }
  }
  return { description, content: { 'application/json': { schema: ref(prefix, 'Error'), examples } } };
}

/** A header that is always present. */
export function header(description: string, example: string) {
  return { description, required: true, schema: { type: 'string' as const }, example };
}

/** Every error, and whether to send the request again, as a Markdown table. */
export function errorTable(): string {
  const rows = Object.entries(problems).map(
    ([name, [error, sentence]]) =>
      `| ${error} | \`${name}\` | ${sentence} | ${again[retries[name as Problem]][0]} |`,
  );
  return ['| `error` | name | message | send again? |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
