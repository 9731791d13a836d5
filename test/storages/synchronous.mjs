// Loaded ahead of the server: gives its SQLite handle the `synchronous` that SYNCHRONOUS names.
import Database from 'libsql';

const { exec } = Database.prototype;
Database.prototype.exec = function (sql) {
  return exec.call(this, sql.replace('synchronous=FULL', `synchronous=${process.env.SYNCHRONOUS}`));
};
