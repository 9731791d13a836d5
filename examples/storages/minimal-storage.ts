// The smallest custom storage: one table, one statement.
import pg from 'pg';
import { acceptTokens, createPlantStore, describeError, PlantRefused, type PlantStorage } from 'plant-store';

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...timeouts });
pool.on('error', (error) => console.error(describeError(error))); // without a listener, a dropped idle connection crashes the process
const insert = 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING';

const storage: PlantStorage = {
  async create({ id, name, tag }) {
    if (name.length > 200) throw new PlantRefused('name is longer than 200 characters'); // a 400
    const { rowCount } = await pool.query(insert, [String(id), name, tag ?? null]);
    return rowCount === 1 ? 'created' : 'taken';
  },
};

export const handle = createPlantStore(storage, acceptTokens('secret'));
