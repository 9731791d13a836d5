import pg from 'pg';
import { acceptTokens, createPlantStore, describeError } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
pool.on('error', (error) => console.error(describeError(error))); // without a listener, a dropped idle connection crashes the process

const storage = postgresStorage(pool);
await storage.createTable(); // if it does not exist; or a migration of yours

export const handle = createPlantStore(storage, acceptTokens('secret'));
