// A multi-tenant app on PostgreSQL: JWTs say the tenant, an id is unique within it, and each plant says who created it.
// `DATABASE_URL=postgres://… ISSUER=https://… AUDIENCE=… node --import tsx examples/storages/tenants.ts`
import express from 'express';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import pg from 'pg';
import {
  createPlantStore,
  describeError,
  guard,
  InsufficientScope,
  json,
  type VerifyToken,
} from 'plant-store';
import { toExpress, toRoute } from 'plant-store/express';
import { type PostgresOptions, postgresStorage, schemaOf } from 'plant-store/postgres';
import { idSchema } from 'plant-store/schema';

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

const timeouts = { connectionTimeoutMillis: 5_000, statement_timeout: 5_000 };
const pool = new pg.Pool({ connectionString: DATABASE_URL, ...timeouts });
// Without a listener, a dropped idle connection crashes the process.
pool.on('error', (error) => console.error(describeError(error)));

const options: PostgresOptions<Caller> = {
  table: 'tenant_plants',
  namespace: { tenant: ({ caller }) => caller.tenant }, // an id is unique within it
  columns: { created_by: ({ caller }) => caller.subject },
};
await pool.query(schemaOf(options)); // or your migration, with types of your own
export const storage = postgresStorage(pool, options);

/** The app's own query. */
export async function find(tenant: string, id: bigint) {
  const select = 'SELECT name, tag, created_by FROM tenant_plants WHERE tenant = $1 AND id = $2';
  const { rows } = await pool.query(select, [tenant, String(id)]);
  return rows[0] as { name: string; tag: string | null; created_by: string } | undefined;
}

const getPlant = guard(allow('plants:read'), async ({ params }, { caller }) => {
  const id = await idSchema['~standard'].validate(params?.id);
  if (id.issues) return json(400, { error: 1400, message: id.issues[0]?.message });
  const plant = await find(caller.tenant, id.value);
  return plant ? json(200, plant) : json(404, { error: 1404, message: 'No plant has this id.' });
});

const app = express();
app.use('/api', toExpress(createPlantStore(storage, allow('plants:write')))); // POST /api/plants
app.get('/api/plants/:id', toRoute(getPlant));

export const server = app.listen(Number(PORT));
server.on('listening', () => console.log(server.address()));
