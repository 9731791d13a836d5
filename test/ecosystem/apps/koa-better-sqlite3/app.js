const Router = require('@koa/router');
const cors = require('@koa/cors');
const Database = require('better-sqlite3');
const jwt = require('jsonwebtoken');
const Koa = require('koa');
const bodyParser = require('koa-bodyparser');
const helmet = require('koa-helmet');
const mount = require('koa-mount');
const { createPlantStore } = require('plant-store');
const { toKoa } = require('plant-store/koa');
const { sqliteStorage } = require('plant-store/sqlite');

const SECRET = process.env.SECRET;

function userOf(token) {
  try {
    return { subject: jwt.verify(token, SECRET, { algorithms: ['HS256'] }).sub };
  } catch (error) {
    if (error instanceof jwt.JsonWebTokenError) return null;
    throw error;
  }
}

const database = new Database(process.env.DATABASE_FILE ?? ':memory:');
database.exec(`
  CREATE TABLE IF NOT EXISTS plants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    tag TEXT,
    created_by TEXT NOT NULL
  )
`);
const storage = sqliteStorage(database, { columns: { created_by: ({ caller }) => caller.subject } });

const router = new Router({ prefix: '/api' });
router.get('/plants', (ctx) => {
  const user = userOf(ctx.get('authorization').replace(/^Bearer /, ''));
  if (!user) ctx.throw(401);
  const rows = database
    .prepare('SELECT * FROM plants WHERE created_by = ? ORDER BY id')
    .safeIntegers()
    .all(user.subject);
  ctx.body = rows.map((row) => ({ ...row, id: String(row.id) }));
});
router.post('/echo', (ctx) => {
  ctx.body = { echo: ctx.request.body };
});

const app = new Koa();
app.use(helmet());
app.use(cors());
app.use(mount('/api', toKoa(createPlantStore(storage, userOf))));
app.use(bodyParser());
app.use(router.routes());
app.use(router.allowedMethods());

module.exports = { app, database, storage };
