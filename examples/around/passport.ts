// The tokens that your app already accepts, through passport and its bearer strategy.
import express, { type Request, type Response } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-http-bearer';
import { createPlantStore, type PlantStorage, type VerifyToken } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';

interface User {
  readonly name: string;
}

passport.use(
  new Strategy((token, done) => {
    if (token === 'outage') done(new Error('no connection to the database of users'));
    else done(null, token === 'secret' && { name: 'alice' });
  }),
);

// plant-store calls passport and responds by the contract: 401, or 500 for an error. `raw` is Express's request.
const verifyToken: VerifyToken<User> = (_token, { request }) =>
  new Promise<User | false | undefined>((resolve, reject) => {
    const done = (error: unknown, user?: User | false) => (error ? reject(error) : resolve(user));
    passport.authenticate('bearer', done)(request.raw as Request, {} as Response, reject);
  });

const plants = memoryStorage();
const storage: PlantStorage<User> = {
  async create(plant, context) {
    console.log(`${context.caller.name} creates plant ${plant.id}`);
    return plants.create(plant, context);
  },
};

const app = express();
app.use('/api', toExpress(createPlantStore(storage, verifyToken))); // POST /api/plants

export const server = app.listen(process.env.PORT ?? 3000);
server.on('listening', () => console.log(server.address()));
