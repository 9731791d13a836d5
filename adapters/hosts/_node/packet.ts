const { MessageChannel } = globalThis;
// One for all requests, because to make one costs ten times as much as to send a message. Opened by the first request,
// because nothing may run when this module loads.
let channel: InstanceType<typeof MessageChannel> | undefined;
const waiting: (() => void)[] = [];

/**
 * Resolves when Node has parsed all of the packet that it is parsing. By a message, because test runners fake
 * `setImmediate` and `nextTick`, often before this module loads; and because it costs half as much.
 */
export function packetParsed(): Promise<void> {
  return new Promise((resolve) => {
    // Jest's jsdom has none. What follows can do without.
    if (!MessageChannel) return resolve();
    if (waiting.push(resolve) > 1) return;
    channel ??= openChannel();
    // Referenced only while a request waits: otherwise it would keep the process alive.
    channel.port1.ref();
    channel.port2.postMessage(null);
  });
}

function openChannel(): InstanceType<typeof MessageChannel> {
  const opened = new MessageChannel();
  const onmessage = () => {
    opened.port1.unref();
    for (const resolve of waiting.splice(0)) resolve();
  };
  Object.assign(opened.port1, { onmessage });
  return opened;
}
