// @ts-expect-error: exists only in Bun
import { Database } from 'bun:sqlite';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new Database(':memory:')));
