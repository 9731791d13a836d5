import { createPlantClient } from 'plant-store/client';

const client = createPlantClient(process.env.URL ?? 'http://127.0.0.1:3000/api', { token: 'secret' });
console.log(await client.create({ id: 9007199254740993n, name: 'Rosa canina' }));
