// AWS Lambda behind API Gateway, a function URL or an Application Load Balancer. A real one keeps its plants in DynamoDB: see dynamodb.ts.
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';

/** What this needs of the events: version 1.0 of a REST API, 2.0 of an HTTP API or a function URL, or a load balancer's. */
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
  const { path = event.rawPath ?? '/' } = event;
  const isStaged = event.path === undefined && path.startsWith(`/${stage}/`);
  const { status, ...answer } = await handle({
    method: event.httpMethod ?? http?.method ?? '',
    url: isStaged ? path.slice(`/${stage}`.length) : path,
    // Version 1.0 keeps the last of two equal headers in `headers`; two Authorization headers must be refused.
    headers: event.multiValueHeaders ?? event.headers ?? {},
    body: body && isBase64Encoded ? Buffer.from(body, 'base64') : body,
    raw: event,
  });
  return { statusCode: status, ...answer };
}
