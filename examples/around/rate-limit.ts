// At most LIMIT creates a minute from one address, before a body is read or a token verified.
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const limiter = rateLimit({
  windowMs: 60_000,
  limit: Number(process.env.LIMIT ?? 600),
  standardHeaders: 'draft-8',
  legacyHeaders: false,
  // The contract's Error, so that clients read it like any other. Retry-After is set already.
  handler: (_request, response) => {
    response.status(429).json({ error: 42900, message: 'Too many requests.' });
  },
});

const app = express();
// app.set('trust proxy', 1); // behind a proxy, otherwise all clients share its address
app.post('/api/plants', limiter);
app.use('/api', toExpress(handle)); // POST /api/plants

export const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
