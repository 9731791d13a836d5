import { createClient } from '@libsql/client';
import { sqliteAsyncStorage } from 'plant-store/sqlite-async';

// Without a URL, the server that `turso dev` starts.
const { TURSO_DATABASE_URL: url = 'http://127.0.0.1:8080', TURSO_AUTH_TOKEN: authToken = '' } = process.env;
const client = createClient({ url, authToken });

export const storage = sqliteAsyncStorage(client);
