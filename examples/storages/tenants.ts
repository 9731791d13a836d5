// A multi-tenant app on PostgreSQL: JWTs say the tenant, an id is unique within it, and each plant says who created it.
// `DATABASE_URL=postgres://… ISSUER=https://… AUDIENCE=… node --import tsx examples/storages/tenants.ts`
import express from 'express';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import pg from 'pg';
import {
  createPlantStore,
  groupCommit,
  guard,
  InsufficientScope,
  RolledBack,
  type VerifyToken,
} from 'plant-store';
import { toExpress } from 'plant-store/express';

const { DATABASE_URL, ISSUER = 'http://127.0.0.1:8080', AUDIENCE = 'plants', PORT = '3000' } = process.env;

interface Caller {
  readonly tenant: string;
  readonly subject: string;
}

const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', ISSUER));
const rules = { issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'exp', 'tenant'] };

/** Verifies a token that has this scope. `jwt.ts` also accepts tokens that do not name their key. */
function allow(required: string): VerifyToken<Caller> {
  return async (token) => {
    const verified = await jwtVerify<{ tenant: unknown }>(token, keys, rules).catch((error: unknown) => {
      if (error instanceof errors.JOSEError && /^ERR_(JW[TS]_|JWKS_NO_|JOSE_)/.test(error.code)) return null;
      throw error; // the issuer is unavailable: 500, never 401
    });
    if (!verified) return null;
    const { sub, tenant, scope } = verified.payload;
    if (typeof sub !== 'string' || typeof tenant !== 'string' || !tenant) return null;
    if (!String(scope).split(' ').includes(required)) throw new InsufficientScope(required);
    return { tenant, subject: sub };
  };
}

const pool = new pg.Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5_000 });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(error.message));

await pool.query(`CREATE TABLE IF NOT EXISTS tenant_plants (
  tenant text NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, created_by text NOT NULL,
  PRIMARY KEY (tenant, id)
)`);

const insert = `INSERT INTO tenant_plants (tenant, id, name, tag, created_by)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])
  ON CONFLICT (tenant, id) DO NOTHING RETURNING tenant, id::text`;

export const storage = groupCommit<Caller>(
  async (plants, contexts) => {
    const tenants = contexts.map(({ caller }) => caller.tenant);
    const ids = plants.map(({ id }) => String(id)); // as text, because drivers round
    const names = plants.map(({ name }) => name);
    const tags = plants.map(({ tag }) => tag ?? null);
    const subjects = contexts.map(({ caller }) => caller.subject);
    const { rows } = await pool
      .query<{ tenant: string; id: string }>(insert, [tenants, ids, names, tags, subjects])
      .catch(rolledBack);
    const created = new Set(rows.map(({ tenant, id }) => JSON.stringify([tenant, id])));
    return ids.map((id, i) => (created.has(JSON.stringify([tenants[i], id])) ? 'created' : 'taken'));
  },
  // One INSERT takes the plants of all tenants; two tenants may send the same id.
  { namespace: ({ caller }) => caller.tenant },
);

/** After these errors PostgreSQL has stored nothing: data, constraint, transaction, privilege. Others are unknown. */
function rolledBack(error: unknown): never {
  const { code = '' } = error as { code?: string };
  if (/^(22|23|42|44)/.test(code)) throw new RolledBack('apart', error);
  if (/^(40001|40P01)$/.test(code)) throw new RolledBack('together', error);
  throw error;
}

/** The app's own query. */
export async function find(tenant: string, id: bigint) {
  const select = 'SELECT name, tag, created_by FROM tenant_plants WHERE tenant = $1 AND id = $2';
  const { rows } = await pool.query(select, [tenant, String(id)]);
  return rows[0] as { name: string; tag: string | null; created_by: string } | undefined;
}

const json = (status: number, value: object) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const getPlant = guard(allow('plants:read'), async ({ url }, { caller }) => {
  const digits = /\/(-?\d{1,19})(?:\?|$)/.exec(url)?.[1] ?? '';
  const id = BigInt(digits);
  if (!digits || BigInt.asIntN(64, id) !== id) {
    return json(400, { error: 1400, message: 'The id must be a 64-bit integer.' });
  }
  const plant = await find(caller.tenant, id);
  return plant ? json(200, plant) : json(404, { error: 1404, message: 'No plant has this id.' });
});

const app = express();
app.use('/api', toExpress(createPlantStore(storage, allow('plants:write')))); // POST /api/plants
app.get('/api/plants/:id', toExpress(getPlant));

export const server = app.listen(Number(PORT), (error) => {
  if (error) throw error;
  console.log(server.address());
});
