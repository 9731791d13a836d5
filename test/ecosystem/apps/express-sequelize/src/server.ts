import type { AddressInfo } from 'node:net';
import { app, storage } from './app';
import { sequelize } from './database';

async function main(): Promise<void> {
  await sequelize.sync();
  await storage.check({ context: { caller: { subject: 'nobody' } } });
  const server = app.listen(Number(process.env.PORT ?? 3000), () => {
    console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
