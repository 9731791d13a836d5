/** A program without a server: a client whose body stalls gets a refusal from a fetch handler, which the program prints. */
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { memoryStorage } from 'plant-store/memory';

const fetch = toFetch(createPlantStore(memoryStorage(), acceptTokens('secret')));
const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(9)) });
const init = { method: 'POST', headers: { authorization: 'Bearer bad' }, body, duplex: 'half' };
const response = await fetch(new Request('http://localhost/plants', init as RequestInit));
console.log(response.status, JSON.parse(await response.text()).error);
