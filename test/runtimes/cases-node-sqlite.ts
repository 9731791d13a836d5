// @ts-expect-error: in Node since 22, whose types are not here
import { DatabaseSync } from 'node:sqlite';
import { openSqlite, report } from './cases.js';

await report(() => openSqlite(() => new DatabaseSync(':memory:')));
