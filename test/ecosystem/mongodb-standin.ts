// A stand-in for MongoDB: no server of its protocol can be installed here. It keeps documents by their `_id`, and speaks as much of the
// protocol (OP_QUERY for the first hello, OP_MSG) as the driver needs for an insert and a find. What it shows is what the driver sends.
import { createServer, type Server, type Socket } from 'node:net';
import { type Any, load } from '../support/installed.js';

const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;

const hello = {
  ismaster: true,
  helloOk: true,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 25,
  ok: 1,
};

export interface MongoStandIn {
  readonly server: Server;
  /** The documents, by the text of their `_id`. */
  readonly documents: Map<string, Any>;
}

export async function mongoStandIn(): Promise<MongoStandIn> {
  const bson = await load('bson');
  const documents = new Map<string, Any>();
  const respond = (command: Any) => responseTo(command, documents, bson);
  const server = createServer((socket) => {
    let waiting = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
        const length = waiting.readInt32LE(0);
        reply(socket, waiting.subarray(0, length), respond, bson);
        waiting = waiting.subarray(length);
      }
    });
  });
  return { server, documents };
}

function responseTo(command: Any, documents: Map<string, Any>, { Long }: Any): object {
  if (command.insert) {
    const [document] = command.documents;
    const key = String(document._id);
    if (documents.has(key)) {
      const duplicate = { index: 0, code: 11000, errmsg: 'E11000 duplicate key', keyPattern: { _id: 1 } };
      return { ok: 1, n: 0, writeErrors: [duplicate] };
    }
    documents.set(key, document);
    return { ok: 1, n: 1 };
  }
  if (command.find) {
    const found = documents.get(String(command.filter._id));
    return { ok: 1, cursor: { id: Long.ZERO, ns: 'garden.plants', firstBatch: found ? [found] : [] } };
  }
  return hello;
}

function reply(socket: Socket, message: Buffer, respond: (command: Any) => object, bson: Any): void {
  const isQuery = message.readInt32LE(12) === opQuery;
  const body = Buffer.from(
    bson.serialize(respond(isQuery ? queryIn(message, bson) : commandIn(message, bson))),
  );
  const before = Buffer.alloc(isQuery ? 36 : 21);
  before.writeInt32LE(before.length + body.length, 0);
  before.writeInt32LE(message.readInt32LE(4), 8);
  before.writeInt32LE(isQuery ? opReply : opMsg, 12);
  if (isQuery) before.writeInt32LE(1, 32);
  socket.write(Buffer.concat([before, body]));
}

function queryIn(message: Buffer, bson: Any): Any {
  const name = message.indexOf(0, 20);
  return bson.deserialize(message.subarray(name + 9));
}

/** Reads the sections of an OP_MSG: the command, and sequences of documents that belong to it. */
function commandIn(message: Buffer, bson: Any): Any {
  const read = (at: number) =>
    bson.deserialize(message.subarray(at, at + message.readInt32LE(at)), { promoteLongs: false });
  const command: Any = {};
  for (let at = 20; at < message.length; ) {
    const size = message.readInt32LE(at + 1);
    if (message[at] === 0) {
      Object.assign(command, read(at + 1));
    } else {
      const end = message.indexOf(0, at + 5);
      command[message.toString('utf8', at + 5, end)] = [read(end + 1)];
    }
    at += 1 + size;
  }
  return command;
}
