import { pinned, StackApp } from './app.js';
import { describeExpressApp } from './express-apps.js';

const test = (title: string, app: StackApp, version: string) => {
  const [build, migrate, addUser, runTest, start] = app.page.commands('Test and run')[0]!.trim().split('\n');
  describeExpressApp(title, {
    app,
    framework: ['@nestjs/core', version],
    install: () => app.install(),
    commands: { migrate: `${build}\n${migrate}`, addUser: addUser!, start: start! },
    test: runTest!,
  });
};

const nest = (version: string) =>
  ['core', 'common', 'platform-express'].map((name) => `@nestjs/${name}@${version}`);
const twoYearsAgo = pinned(
  ...nest('10.4.8'),
  'typeorm@0.3.20',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.1',
  'pg@8.13.1',
  'express@4.21.1',
  'express-session@1.18.1',
  'connect-pg-simple@10.0.0',
  'ejs@3.1.10',
  'jose@5.9.6',
  '@node-rs/argon2@2.0.0',
  'http-graceful-shutdown@3.1.13',
  'supertest@7.0.0',
  'typescript@5.7.2',
  '@types/node@20.17.9',
  '@types/express@4.17.21',
  '@types/pg@8.11.10',
);

test('NestJS 12 and TypeORM 1', new StackApp('nest-typeorm'), '12.');
const eleven = pinned(...nest('11.2.6'));
test('NestJS 11', new StackApp('nest-typeorm', { replace: eleven }), '11.');
const older = new StackApp('nest-typeorm', { replace: twoYearsAgo });
test('NestJS 10, TypeORM 0.3 and the packages of two years ago', older, '10.4.8');
