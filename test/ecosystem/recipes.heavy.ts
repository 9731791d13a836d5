// The recipes for prom-client and Passport.
import { tracingChannel } from 'node:diagnostics_channel';
import type { PlantRequest, PlantResponse } from 'plant-store';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { examplePostgres, exampleUrl, rosa, runExamplesHere } from '../examples/recipe.js';
import { importExample } from '../support/installed.js';
import { createPlant } from '../support/plants.js';

const printed = runExamplesHere();
examplePostgres();
afterEach(() => vi.clearAllMocks());

describe('metrics', () => {
  it('counts the responses of plant-store by error code, not those of the app, and its batches by how they ended', async () => {
    const url = await exampleUrl(importExample('metrics-app'));
    await createPlant(`${url}/api`, rosa(1));
    await createPlant(`${url}/api`, rosa(1));
    await createPlant(`${url}/api`, rosa(2), 'wrong');
    await createPlant(`${url}/api`, rosa(2));
    expect((await fetch(`${url}/api/plants`)).status).toBe(404);
    expect((await fetch(`${url}/api/plants`, { method: 'HEAD' })).status).toBe(404);
    const text = await (await fetch(`${url}/metrics`)).text();
    const counts = [...text.matchAll(/^plant_store_response_seconds_count\{error="(\d+)"\} (\d+)$/gm)];
    const seen = counts.filter(([, , count]) => count !== '0');
    expect(Object.fromEntries(seen.map(([, error, count]) => [error, count]))).toEqual({
      0: '2',
      40003: '1',
      40102: '1',
    });
    const others = text.match(
      /^plant_store_(batch\w*_(count|total)|queued|queued_max|circuit_open|failed_batches|failed_in_row|failing_seconds|rejected_in_row|rejecting_seconds)\b.*$/gm,
    );
    expect(others?.sort()).toEqual(
      [
        'plant_store_batch_plants_count 3',
        'plant_store_batch_seconds_count 3',
        'plant_store_batches_total{end="settled"} 3',
        ...['conflict', 'locked', 'rejected', 'unusable', 'unavailable', 'unknown'].map(
          (end) => `plant_store_batches_total{end="${end}"} 0`,
        ),
        'plant_store_queued 0',
        'plant_store_queued_max 10000',
        'plant_store_circuit_open 0',
        'plant_store_failed_in_row 0',
        'plant_store_failing_seconds 0',
        'plant_store_rejected_in_row 0',
        'plant_store_rejecting_seconds 0',
      ].sort(),
    );
  });

  it('publishes each request on the channel that an agent subscribes to', async () => {
    const url = await exampleUrl(importExample('metrics-app'));
    const channel = tracingChannel<unknown, { result?: PlantResponse; request: PlantRequest }>('plant-store');
    const ended = vi.fn();
    const subscriber = { asyncEnd: ended } as never;
    channel.subscribe(subscriber);
    onTestFinished(() => void channel.unsubscribe(subscriber));
    await createPlant(`${url}/api`, rosa(3), 'wrong');
    expect(ended).toHaveBeenCalledTimes(1);
    expect(ended.mock.calls[0]![0]).toMatchObject({ request: { method: 'POST' }, result: { error: 40102 } });
  });
});

describe('passport', () => {
  it('passes its user to the storage', async () => {
    const mount = `${await exampleUrl(importExample('passport'))}/api`;
    const { status, body } = await createPlant(mount, rosa(1));
    expect([status, body]).toEqual([200, { name: 'Rosa canina' }]);
    expect(printed.log).toHaveBeenCalledWith('alice creates plant 1');
  });

  it('lets plant-store respond to a token that the strategy rejects, and to an error of the strategy', async () => {
    const mount = `${await exampleUrl(importExample('passport'))}/api`;
    const { status, headers, body } = await createPlant(mount, rosa(2), 'wrong');
    expect([status, body]).toMatchObject([401, { error: 40102 }]);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="plants", error="invalid_token"');
    expect(printed.error).not.toHaveBeenCalled();
    const outage = await createPlant(mount, rosa(2), 'outage');
    expect(outage).toMatchObject({ status: 500, body: { error: 50002 } });
    expect(printed.error).toHaveBeenCalledOnce();
  });
});
