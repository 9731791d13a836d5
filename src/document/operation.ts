import { errorNumbers, type Problem } from '../errors/numbers.js';
import { sentences } from '../errors/problems.js';

const mayBeStored = (condition: string) =>
  `The plant may be stored. Send the request again only if ${condition}; otherwise a 40003 can mean that this request stored the plant.`;

/** Whether to send a request again: a cell of the document's table, and a sentence for each example. */
const advices = {
  yes: 'Send the request again: nothing was stored.',
  no: 'Do not send the request again: only the operator can fix this.',
  'after a change': 'Do not send the request again unchanged: it would fail again.',
  'with another token': 'Send the request again with another token.',
  'only with acceptReplays': mayBeStored('the server accepts replays'),
  'only after Retry-After': mayBeStored('the response has Retry-After'),
};

const retries: Record<Problem, keyof typeof advices> = {
  body_not_json: 'after a change',
  plant_invalid: 'after a change',
  id_taken: 'after a change',
  plant_refused: 'after a change',
  media_type_unsupported: 'after a change',
  body_too_large: 'after a change',
  body_incomplete: 'yes',
  token_missing: 'with another token',
  token_invalid: 'with another token',
  scope_insufficient: 'with another token',
  not_found: 'after a change',
  method_not_allowed: 'after a change',
  internal_error: 'only with acceptReplays',
  storage_failed: 'only with acceptReplays',
  verification_failed: 'yes',
  body_unreadable: 'no',
  storage_rejected: 'no',
  busy: 'yes',
  timed_out: 'only after Retry-After',
};

/** Every error as the document describes it. */
const errors = (Object.keys(errorNumbers) as Problem[]).map((name) => {
  const again = retries[name];
  return { name, error: errorNumbers[name], message: sentences[name], again, advice: advices[again] };
});

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
  return {
    '200': {
      description: 'plant response',
      content: {
        'application/json': { schema: ref(prefix, 'Plant'), example: { name: 'Rosa canina', tag: 'shrub' } },
      },
    },
    '400': errorResponse(prefix, 400, 'unexpected error'),
    '401': errorResponse(prefix, 401, 'missing or invalid token', {
      'WWW-Authenticate': challenge('an `error` attribute if credentials were sent', 'error="invalid_token"'),
    }),
    '403': errorResponse(prefix, 403, 'valid token without the required scope', {
      'WWW-Authenticate': challenge(
        'the required `scope`',
        'error="insufficient_scope", scope="plants:write"',
      ),
    }),
    '500': errorResponse(prefix, 500, 'server error'),
    '503': errorResponse(prefix, 503, 'storage unavailable or timed out', {
      'Retry-After': {
        description: 'Seconds to wait. Present only where sending the request again is safe.',
        required: false,
        schema: { type: 'integer' as const, minimum: 0 },
        example: 1,
      },
    }),
  };
}

type Example = { summary: string; description: string; value: { error: number; message: string } };

/** A response that carries the contract's Error, with an example for each error of this status. */
export function errorResponse<Headers = Record<never, never>>(
  prefix: string,
  status: number,
  description: string,
  headers = {} as Headers,
) {
  const examples: Record<string, Example> = {};
  for (const { name, error, message, advice: description } of errors) {
    if (Math.trunc(error / 100) !== status) continue;
    examples[name] = { summary: `${error} ${name}: ${message}`, description, value: { error, message } };
  }
  const content = { 'application/json': { schema: ref(prefix, 'Error'), examples } };
  return { description, headers, content };
}

const challenge = (attributes: string, example: string) =>
  headerObject(`Bearer challenge (RFC 6750 §3), with ${attributes}.`, `Bearer realm="plants", ${example}`);

/** A header that is always present. */
export function headerObject(description: string, example: string) {
  return { description, required: true, schema: { type: 'string' as const }, example };
}

/** Every error, and whether to send the request again, as a Markdown table. */
export function errorTable(): string {
  const rows = errors.map(
    ({ name, error, message, again }) => `| ${error} | \`${name}\` | ${message} | ${again} |`,
  );
  return ['| `error` | name | message | send again? |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
