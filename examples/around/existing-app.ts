// An app with its own CORS, body parser, routes and error handler, and plant-store added after them.
import express, { type ErrorRequestHandler } from 'express';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

const app = express();
app.use((request, response, next) => {
  response.set({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-expose-headers': 'www-authenticate, retry-after',
  });
  if (request.method === 'OPTIONS') response.sendStatus(204);
  else next();
});
// express.json() rounds large ids. This keeps the bytes, and plant-store reads those.
app.use(express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }));

app.use('/api', toExpress(createPlantStore(memoryStorage(), acceptTokens('secret'))));

app.get('/api/plants', (_request, response) => void response.json(['the list that was there before']));
app.post('/api/echo', (request, response) => void response.json(request.body));
// express.json() rejects a body that is not JSON before plant-store sees it. This gives the contract's Error.
const onBadJson: ErrorRequestHandler = (error, _request, response, next) => {
  if (error.type !== 'entity.parse.failed') return next(error);
  response.status(400).json({ error: 40001, message: 'The body is not JSON. Send a JSON object in UTF-8.' });
};
app.use('/api/plants', onBadJson);
const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error.status ?? 500).json({ ours: error.message });
};
app.use(onError);

const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
