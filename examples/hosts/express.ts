import express from 'express';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = express();
app.use('/api', toExpress(handle)); // POST /api/plants

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
