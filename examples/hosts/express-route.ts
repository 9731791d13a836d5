import express from 'express';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toRoute } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const app = express();
app.post('/api/plants', toRoute(handle)); // from 'plant-store/express'

const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
