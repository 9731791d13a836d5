import { createClient } from '@libsql/client';
import { sqliteStorage } from 'plant-store/sqlite';

// Without a URL, the server that `turso dev` starts, which keeps its plants until it ends.
const { TURSO_DATABASE_URL: url = 'http://127.0.0.1:8080', TURSO_AUTH_TOKEN: authToken = '' } = process.env;
// A relative path is another file in another working directory, and the next build may delete it.
if (/^file:(?!\/)/.test(url))
  throw new Error('TURSO_DATABASE_URL must be the URL of a server, or file: with an absolute path');
// A client of a file waits so long for the lock of another process. Pass no embedded replica (syncUrl), but a client of its primary.
const client = createClient({ url, authToken, timeout: 5_000 });

export const storage = sqliteStorage(client);
