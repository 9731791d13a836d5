import { createPool } from 'mysql2/promise';
import { mysqlStorage } from 'plant-store/mysql';

const { DATABASE_URL = 'mysql://root@127.0.0.1:3306/plants' } = process.env;
const pool = createPool({ uri: DATABASE_URL, connectTimeout: 5_000 });

export const storage = mysqlStorage(pool);
