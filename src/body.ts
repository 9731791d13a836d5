import type { Deadline } from './deadline.js';
import { header, type MaybePromise, type PlantHeaders, type PlantRequest } from './http.js';
import { problems, Refusal } from './problems.js';
import { bytesOf, Upload } from './upload.js';

/** A body as it arrived, before it is text. */
export type Content = string | Uint8Array | { readonly parsed: unknown };

/** Parameters are ignored: JSON has no charset (RFC 8259 §11). */
const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** What may be quoted back to the client: a media type or a list of codings, not whatever else came in its place. */
const quotable = /^(?=.{1,100}$)[\w!#$&^.+-]+([/,] ?[\w!#$&^.+-]+)*$/;

/** Refuses a body that is not plain JSON, or that declares more than `limit` bytes, before any of it is read. */
export function checkBodyHeaders(headers: PlantHeaders, limit: number): void {
  const type = String(header(headers, 'content-type') ?? '');
  if (!jsonType.test(type)) throw unsupported('Content-Type', type.replace(/;.*/s, ''));
  const encoding = String(header(headers, 'content-encoding') ?? '');
  if (encoding && !/^ *identity *$/i.test(encoding)) throw unsupported('Content-Encoding', encoding);
  if (Number(header(headers, 'content-length')) > limit) throw tooLarge(limit);
}

function unsupported(name: string, value: string): Refusal {
  const received = value.trim();
  const problem = quotable.test(received)
    ? `The ${name} is ${received}.`
    : `The request has no usable ${name}.`;
  return new Refusal('media_type_unsupported', {
    message: `${problems.media_type_unsupported[1]} ${problem}`,
  });
}

export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', { message: `The body is larger than ${limit} bytes.` });
}

/** Reads the body, in whichever of its forms it is. Fails as a `ReadBody` does. */
export function readBody(
  body: PlantRequest['body'],
  limit: number,
  deadline: Deadline,
): MaybePromise<Content> {
  if (typeof body === 'function') return body(limit);
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return body ?? '';
  const upload = new Upload(body[Symbol.asyncIterator]());
  // To stop a connection's stream, Node's or the web's, is to destroy it before the answer is sent.
  const isConnection = 'pipe' in body || 'getReader' in body;
  deadline.giveUp = () => (isConnection ? upload.discard() : upload.stop());
  return upload.read(limit);
}

// `fatal`: else an invalid byte would be stored as U+FFFD. The decoder also removes one leading BOM.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body: at most `limit` bytes of UTF-8, without a byte order mark. */
export function textOf(content: string | Uint8Array, limit: number): string {
  if (typeof content === 'string') {
    // A UTF-16 unit is 1 to 3 bytes of UTF-8: encode only if the length alone cannot decide.
    const isNear = content.length * 3 > limit;
    if (isNear && new TextEncoder().encode(content).length > limit) throw tooLarge(limit);
    return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content;
  }
  const bytes = bytesOf(content, limit);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal('body_not_json');
  }
}
