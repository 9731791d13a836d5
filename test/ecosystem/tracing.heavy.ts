// The recipe for OpenTelemetry. Its instrumentations around each mount: agents.runtime.ts. A span in a batch: batch-contexts.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { exampleUrl, rosa, runExamplesHere } from '../examples/recipe.js';
import { importExample, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';

const { context, SpanStatusCode, trace } = await load('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = await load('@opentelemetry/context-async-hooks');
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await load(
  '@opentelemetry/sdk-trace-base',
);

runExamplesHere();
afterEach(() => vi.clearAllMocks());
const spans = new InMemorySpanExporter();
beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const spanProcessors = [new SimpleSpanProcessor(spans)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});
afterAll(() => {
  trace.disable();
  context.disable();
});

it('creates a span for a request, with one for its storage inside', async () => {
  const url = await exampleUrl(importExample('tracing'));
  await createPlant(url, rosa(1));
  await createPlant(url, rosa(1), 'wrong');
  const [storing, request, refused, ...more] = spans.getFinishedSpans();
  expect([storing?.name, request?.name, refused?.name, ...more]).toEqual([
    'storage.create',
    'POST /plants',
    'POST /plants',
  ]);
  expect(storing?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  expect(request?.attributes).toEqual({ 'http.response.status_code': 200 });
  expect(refused?.attributes).toEqual({ 'http.response.status_code': 401 });
});

it('keeps the cause of a 5xx with the span of its request', async () => {
  const example = await importExample('tracing');
  spans.reset();
  vi.spyOn(example.plants, 'create').mockRejectedValueOnce(new Error('disk full'));
  await createPlant(await exampleUrl(example), rosa(2));
  const [, request] = spans.getFinishedSpans();
  expect(request?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(request?.events).toMatchObject([
    { attributes: { 'exception.message': expect.stringContaining('the storage threw Error') } },
  ]);
});
