// OpenTelemetry: a span for each request, and one for its storage. They go to the SDK that your app has set up.
import { createServer } from 'node:http';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import {
  acceptTokens,
  createPlantStore,
  describeError,
  type PlantHandler,
  type PlantStorage,
} from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const tracer = trace.getTracer('plant-store');
export const plants = memoryStorage();

const storage: PlantStorage = {
  create: (plant, storageContext) =>
    tracer.startActiveSpan('storage.create', (span) =>
      plants.create(plant, storageContext).finally(() => span.end()),
    ),
};

const handle = createPlantStore(storage, acceptTokens('secret'), {
  // Not the error itself: it may quote the plant and the token.
  onError: (error, _request, code) =>
    trace.getActiveSpan()?.recordException({ code, message: describeError(error, code) }),
});

// Its parent is the active span: the HTTP instrumentation's, which reads `traceparent`.
const traced: PlantHandler = (request) =>
  tracer.startActiveSpan('POST /plants', async (span) => {
    const response = await handle(request);
    span.setAttribute('http.response.status_code', response.status);
    if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    return response;
  });

export const server = createServer(toNode(traced));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
