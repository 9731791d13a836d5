// JWTs that your app signs with a secret (HS256), verified by jsonwebtoken: `SECRET=…` of 32 bytes and more.
import { createServer } from 'node:http';
import jwt from 'jsonwebtoken';
import { createPlantStore, type VerifyToken } from 'plant-store';
import { memoryStorage } from 'plant-store/memory';
import { toNode } from 'plant-store/node';

const { SECRET = '', PORT = '3000' } = process.env;
// jsonwebtoken reports a missing secret like an invalid token: every response would be a 401.
if (Buffer.byteLength(SECRET) < 32) throw new Error('SECRET must have 32 bytes or more');

const verifyToken: VerifyToken<{ subject: string }> = (token) => {
  try {
    // Name the algorithm: a token must not choose it. Without `aud` in your tokens, leave `audience` out: all would be refused.
    const { sub } = jwt.verify(token, SECRET, { algorithms: ['HS256'], audience: 'plants' });
    return typeof sub === 'string' && sub !== '' ? { subject: sub } : null;
  } catch (error) {
    // Also TokenExpiredError and NotBeforeError, which are subclasses. Anything else is a 500.
    if (error instanceof jwt.JsonWebTokenError) return null;
    throw error;
  }
};

export const server = createServer(toNode(createPlantStore(memoryStorage(), verifyToken)));
server.listen(Number(PORT), () => console.log(server.address()));
