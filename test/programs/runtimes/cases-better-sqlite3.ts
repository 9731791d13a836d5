// @ts-expect-error: installed only for this test
import Database from 'better-sqlite3';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new Database(':memory:')));
