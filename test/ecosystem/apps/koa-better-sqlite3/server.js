const { app, storage } = require('./app');

async function main() {
  await storage.check({ context: { caller: { subject: 'nobody' } } });
  const server = app.listen(Number(process.env.PORT ?? 3000), () => {
    console.log(`Listening on http://127.0.0.1:${server.address().port}`);
  });
}

main();
