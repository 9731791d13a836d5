import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenApiDocument } from 'plant-store/openapi';
import type { Answer } from '../support/contract.js';

interface Documented {
  readonly headers?: Record<
    string,
    { readonly required: boolean; readonly schema: { readonly type: string } }
  >;
  readonly content: Record<string, { readonly examples?: Record<string, { value: { error: number } }> }>;
}

/** The headers that matter to a client of this API. An answer may only have those that the document names. */
const meaningful = ['www-authenticate', 'retry-after', 'allow'];

const known = new WeakMap<OpenApiDocument, Ajv2020>();

/** An independent JSON Schema validator that knows the document: `validator('/components/schemas/Plant')`. */
export function validators(document: OpenApiDocument): (pointer: string) => ValidateFunction {
  const ajv = known.get(document) ?? ajvOf(document);
  return (pointer) => ajv.getSchema(`contract#${pointer}`)!;
}

function ajvOf(document: OpenApiDocument): Ajv2020 {
  // Not strict, because OpenAPI's keywords (paths, info, example) are unknown to JSON Schema.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('int32', { type: 'number', validate: (value) => Math.abs(value + 0.5) <= 2 ** 31 - 0.5 });
  ajv.addFormat('int64', { type: 'number', validate: (value) => value >= -(2 ** 63) && value < 2 ** 63 });
  ajv.addSchema(document, 'contract');
  known.set(document, ajv);
  return ajv;
}

/** How a response differs from the document; empty if it does not. 404 and 405 are documented next to the operation. */
export function undocumented(
  document: OpenApiDocument,
  { status, headers, text }: Answer,
  bodyless = false,
): string[] {
  const place = pointerOf(status);
  const documented = place
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/')],
      document,
    ) as Documented | undefined;
  if (!documented) return [`status ${status} is not documented`];
  const validator = validators(document);
  const faults: string[] = [];

  for (const name of meaningful) {
    const [key, header] =
      Object.entries(documented.headers ?? {}).find(([key]) => key.toLowerCase() === name) ?? [];
    const value = headers.get(name);
    if (value === null ? header?.required : !header) faults.push(`${status}: ${name} is ${value}`);
    if (value === null || !header) continue;
    const validate = validator(`${place}/headers/${key}/schema`);
    if (!validate(header.schema.type === 'integer' ? Number(value) : value)) {
      faults.push(`${status}: ${name} is ${value}: ${JSON.stringify(validate.errors)}`);
    }
  }

  if (bodyless) return text === '' ? faults : [...faults, `${status}: there is a body`];
  const type = headers.get('content-type') ?? '';
  const media = documented.content[type];
  if (!media) return [...faults, `${status}: content-type is ${type}`];
  const body = JSON.parse(text);
  const validate = validator(`${place}/content/${type.replaceAll('/', '~1')}/schema`);
  if (!validate(body)) faults.push(`${status}: ${text} ${JSON.stringify(validate.errors)}`);
  const numbers = Object.values(media.examples ?? {}).map(({ value }) => value.error);
  if (status !== 200 && !numbers.includes(body.error))
    faults.push(`${status}: ${body.error} is not documented`);
  return faults;
}

function pointerOf(status: number): string {
  if (status === 404 || status === 405) return `/x-responses/${status}`;
  return `/paths/~1plants/post/responses/${status}`;
}
