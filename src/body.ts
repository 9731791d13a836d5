import { type Content, header, type MaybePromise, type PlantHeaders, type PlantRequest } from './http.js';
import { tooLarge, unsupported } from './problems.js';
import { Upload } from './upload.js';

/** Parameters are ignored: JSON has no charset (RFC 8259 §11). */
const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** Refuses a body that is not plain JSON, or that declares more than `limit` bytes, before any of it is read. */
export function checkBodyHeaders(headers: PlantHeaders, limit: number): void {
  const type = String(header(headers, 'content-type') ?? '');
  if (!jsonType.test(type)) throw unsupported('Content-Type', type.replace(/;.*/s, ''));
  const encoding = String(header(headers, 'content-encoding') ?? '');
  if (encoding && !/^ *identity *$/i.test(encoding)) throw unsupported('Content-Encoding', encoding);
  if (Number(header(headers, 'content-length')) > limit) throw tooLarge(limit);
}

/**
 * Reads the body, in whichever of its forms it is. Fails as a `ReadBody` does.
 *
 * @param progress gets `abandonBody` for a stream: what to do with it if the request is refused while it is being read
 */
export function readBody(
  body: PlantRequest['body'],
  limit: number,
  progress: { abandonBody?: (() => unknown) | undefined },
): MaybePromise<Content> {
  if (typeof body === 'function') return body(limit);
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return body ?? '';
  const upload = new Upload(body[Symbol.asyncIterator]());
  // Cancelling a socket's stream, Node's or the web's, destroys the connection before the response is sent: drain it instead.
  const isConnection = 'pipe' in body || 'getReader' in body;
  progress.abandonBody = () => (isConnection ? upload.discard() : upload.stop());
  return upload.read(limit);
}
