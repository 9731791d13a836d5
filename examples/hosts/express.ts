import express from 'express';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));
const app = express();
app.use('/api', toExpress(handle)); // POST /api/plants

const port = Number(process.env.PORT ?? 3000);
app.listen(port, '127.0.0.1').on('listening', () => console.log(`Listening on http://127.0.0.1:${port}`));
