// @ts-expect-error: exists since Node 22; the types here are those of Node 20
import { DatabaseSync } from 'node:sqlite';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new DatabaseSync(':memory:')));
