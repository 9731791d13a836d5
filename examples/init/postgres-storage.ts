import pg from 'pg';
import { describeError } from 'plant-store';
import { postgresStorage } from 'plant-store/postgres';

const { DATABASE_URL } = process.env;
// After these times a login or a statement that hangs fails, and the pool can use its connection again.
const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: DATABASE_URL, ...timeouts });
pool.on('error', (error) => console.error(describeError(error))); // without a listener, a dropped idle connection crashes the process

export const storage = postgresStorage(pool);
