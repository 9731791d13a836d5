// @ts-expect-error: fetched for this test alone
import Database from 'better-sqlite3';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new Database(':memory:')));
