// Prometheus: a histogram of response times by error code.
import express from 'express';
import { acceptTokens, createPlantStore, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { Histogram, register } from 'prom-client';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const seconds = new Histogram({
  name: 'plant_store_answer_seconds',
  help: 'Responses of POST /plants by error code, 0 for a created plant',
  labelNames: ['error'],
});

const measured: PlantHandler = async (request) => {
  const stop = seconds.startTimer();
  const response = await handle(request);
  const { error = 0 } = response;
  // 40401 and 40501 mean that the request falls through to the app: do not count them.
  if (error !== 40401 && error !== 40501) stop({ error });
  return response;
};

const app = express();
app.use('/api', toExpress(measured)); // POST /api/plants
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics());
});

export const server = app.listen(process.env.PORT ?? 3000, (error) => {
  if (error) throw error;
  console.log(server.address());
});
