// @ts-expect-error: in Bun alone
import { Database } from 'bun:sqlite';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new Database(':memory:')));
