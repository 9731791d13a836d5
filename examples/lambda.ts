// AWS Lambda behind API Gateway (REST API, HTTP API) or a function URL. A real one keeps its plants in DynamoDB: dynamodb.ts.
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

/** What is used of the three events: a REST API sends version 1.0, an HTTP API and a function URL 2.0. */
interface Event {
  readonly httpMethod?: string;
  readonly path?: string;
  readonly multiValueHeaders?: Record<string, string[] | undefined> | null;
  readonly requestContext?: { readonly http?: { readonly method: string }; readonly stage?: string };
  readonly rawPath?: string;
  readonly headers?: Record<string, string | undefined> | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

export async function handler(event: Event) {
  const { requestContext: { http, stage } = {}, body, isBase64Encoded } = event;
  // An HTTP API puts the name of its stage before the path, unless the stage is `$default`.
  const path = event.path ?? event.rawPath?.replace(`/${stage}/`, '/') ?? '/';
  const { status, ...answer } = await handle({
    method: event.httpMethod ?? http?.method ?? '',
    url: path,
    // `headers` of version 1.0 keeps the last of several; this keeps all, so that a second Authorization is refused.
    headers: event.multiValueHeaders ?? event.headers ?? {},
    body: body && isBase64Encoded ? Buffer.from(body, 'base64') : body,
    raw: event,
  });
  return { statusCode: status, ...answer };
}
