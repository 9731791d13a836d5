import { pinned, StackApp } from './app.js';
import { describeExpressApp } from './express-apps.js';

const twoYearsAgo = pinned(
  'express@4.21.1',
  'express-session@1.18.1',
  'connect-pg-simple@10.0.0',
  'knex@3.1.0',
  'pg@8.13.1',
  'ejs@3.1.10',
  'jsonwebtoken@9.0.2',
  'supertest@7.0.0',
);

const test = (title: string, app: StackApp, version: string) => {
  const only = (heading: string) => app.page.commands(heading)[0]!;
  describeExpressApp(title, {
    app,
    framework: ['express', version],
    install: () => app.install(),
    commands: { migrate: only('The table'), addUser: only('Who calls'), start: only('Run') },
    test: only('Test'),
    exitCode: 0,
  });
};

test('Express 5 and PostgreSQL', new StackApp('express-postgres'), '5.');
const older = new StackApp('express-postgres', { replace: twoYearsAgo });
test('Express 4 and the packages of two years ago', older, '4.21.1');
