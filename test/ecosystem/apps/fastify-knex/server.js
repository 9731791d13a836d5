import { createApp } from './app.js';

async function main() {
  const { app } = await createApp();
  console.log(`Listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}`);
}

main();
