// MariaDB's own connector: `DATABASE_URL=mariadb://… node --import tsx examples/storages/mariadb.ts`.
import { createServer } from 'node:http';
import * as mariadb from 'mariadb';
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toNode } from 'plant-store/node';

const pool = mariadb.createPool(process.env.DATABASE_URL as string);
const insert = 'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)';

export const storage: PlantStorage = {
  async create({ id, name, tag }) {
    try {
      await pool.execute(insert, [String(id), name, tag ?? null]);
      return 'created';
    } catch (error) {
      const { errno, sqlMessage } = error as mariadb.SqlError;
      // Of the primary key alone: a duplicate in another unique index is no taken id.
      if (errno === 1062 && /for key '(.*\.)?PRIMARY'/.test(String(sqlMessage))) return 'taken';
      throw error;
    }
  },
};

export const server = createServer(toNode(createPlantStore(storage, acceptTokens('secret'))));
server.listen(process.env.PORT ?? 3000, () => console.log(server.address()));
