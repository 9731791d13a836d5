const { IgnorePlugin } = require('webpack');

// What Nest, TypeORM and pg require if it is there.
const absent =
  /^(@nestjs\/(microservices|websockets)(\/.*)?|@fastify\/static|cache-manager|pg-native|(react-native|expo)-.*)$/;

module.exports = {
  mode: 'none',
  target: 'node',
  entry: './dist/main.js',
  output: { path: `${__dirname}/bundle`, filename: 'server.js' },
  plugins: [new IgnorePlugin({ resourceRegExp: absent })],
};
