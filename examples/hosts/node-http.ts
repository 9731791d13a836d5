import { createServer } from 'node:http';
import { acceptTokens, createPlantStore } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const handle = createPlantStore(memoryStorage(), acceptTokens('secret'));

const server = createServer(toNode(handle)); // POST /plants

server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
