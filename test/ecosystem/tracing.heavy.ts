/** OpenTelemetry: its instrumentations in front of the contract table, and the recipe. For a span in a batch, see batch-contexts. */
import { createRequire } from 'node:module';
import { toExpress } from 'plant-store/express';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { exampleUrl, rosa, runExamplesHere } from '../examples/recipe.js';
import { type Host, theApp } from '../hosts/hosts.js';
import { contractOn } from '../hosts/suite.js';
import { type Any, importExample, load } from '../support/installed.js';
import { createPlant } from '../support/plants.js';
import { listen } from '../support/sockets.js';

const { context, SpanStatusCode, trace } = await load('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = await load('@opentelemetry/context-async-hooks');
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await load(
  '@opentelemetry/sdk-trace-base',
);
const { registerInstrumentations } = await load('@opentelemetry/instrumentation');
const { ExpressInstrumentation } = await load('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = await load('@opentelemetry/instrumentation-http');

describe('Express 5 with the instrumentations of HTTP and Express', () => {
  const exporter = new InMemorySpanExporter();
  const stopTracing = registerInstrumentations({
    instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()],
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  });
  afterAll(stopTracing);

  // Required, not imported, and only now: the instrumentation patches what is required after it.
  const require = createRequire(import.meta.url);
  const http = require('node:http') as typeof import('node:http');
  const express = require('express') as typeof import('express');
  const host: Host = {
    name: 'Express 5',
    others: 'the app',
    start: (handle) => {
      const app = express().disable('etag').use(toExpress(handle));
      app.use((_request, response) => void response.status(theApp.status).send(theApp.text));
      return listen(http.createServer(app));
    },
  };
  contractOn(host);

  it('gives each request its span, because they were in front', () => {
    expect(exporter.getFinishedSpans().map(({ name }: Any) => name)).toContain('POST');
  });
});

describe('the recipe', () => {
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
    expect(request?.events).toMatchObject([{ attributes: { 'exception.message': 'disk full' } }]);
  });
});
