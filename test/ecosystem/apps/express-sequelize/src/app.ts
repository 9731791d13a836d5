import cors from 'cors';
import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import jwt from 'jsonwebtoken';
import { createPlantStore } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { postgresStorage } from 'plant-store/postgres';
import { Plant, sequelize } from './database';

const SECRET = process.env.SECRET ?? '';

/** Returns the user that a token was signed for, or `null` if it is invalid. */
function userOf(token: string): { subject: string } | null {
  try {
    const { sub } = jwt.verify(token, SECRET, { algorithms: ['HS256'] });
    return typeof sub === 'string' ? { subject: sub } : null;
  } catch (error) {
    if (error instanceof jwt.JsonWebTokenError) return null;
    throw error;
  }
}

const authenticate: RequestHandler = (req, res, next) => {
  const user = userOf(req.get('authorization')?.replace(/^Bearer /, '') ?? '');
  if (!user) return void res.status(401).json({ error: 'Log in.' });
  res.locals.user = user;
  next();
};

export const storage = postgresStorage<{ subject: string }>(
  {
    query: async (text, bind = []) => ({
      rows: (await sequelize.query(text, { bind: [...bind], retry: { max: 1 }, transaction: null }))[0],
    }),
  },
  {
    table: 'express_plants',
    columns: {
      createdBy: ({ caller }) => caller.subject,
      createdAt: () => new Date(),
      updatedAt: () => new Date(),
    },
  },
);

export const app = express();
app.use(helmet());
app.use(cors());
app.use('/api', toExpress(createPlantStore(storage, userOf)));
app.use(express.json());

app.get('/api/plants', authenticate, async (_req, res, next) => {
  try {
    res.json(await Plant.findAll({ where: { createdBy: res.locals.user.subject }, order: ['id'] }));
  } catch (error) {
    next(error);
  }
});
app.post('/api/echo', (req, res) => {
  res.json({ echo: req.body });
});
