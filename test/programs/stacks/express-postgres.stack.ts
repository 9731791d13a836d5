import { pinned, StackApp } from './app.js';
import { describeExpressApp } from './express-apps.js';

const twoYearsAgo = pinned(
  'express@4.21.1',
  'express-session@1.18.1',
  'connect-pg-simple@10.0.0',
  'knex@3.1.0',
  'pg@8.13.1',
  'ejs@3.1.10',
  'jose@5.9.6',
  '@node-rs/argon2@2.0.0',
  'http-graceful-shutdown@3.1.13',
  'supertest@7.0.0',
);

const test = (title: string, app: StackApp, version: string) => {
  const [migrate, addUser, runTest, start] = app.page.commands('Test and run')[0]!.trim().split('\n');
  describeExpressApp(title, {
    app,
    framework: ['express', version],
    install: () => app.install(),
    commands: { migrate: migrate!, addUser: addUser!, start: start! },
    test: runTest!,
  });
};

test('Express 5 and PostgreSQL', new StackApp('express-postgres'), '5.');
const older = new StackApp('express-postgres', { replace: twoYearsAgo });
test('Express 4 and the packages of two years ago', older, '4.21.1');
