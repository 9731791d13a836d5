/** Sends single HTTP/2 frames (RFC 9113 §4.1), because Node's client ends a body properly even if it aborts. */
import { Connection, openSocket } from './connection.js';

export const frameTypes = { data: 0, headers: 1, resetStream: 3, settings: 4 };
export const endStream = 1;
const endHeaders = 4;
const acknowledge = 1;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export class Frames extends Connection {
  /** Every frame that was received. */
  readonly frames: Frame[] = [];
  #looked = 0;

  static async open(port: number): Promise<Frames> {
    const frames = new Frames(await openSocket(port));
    frames.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    frames.write(frameTypes.settings, 0, 0);
    return frames;
  }

  write(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): void {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    this.socket.write(Buffer.concat([head, payload]));
  }

  headers(stream: number, fields: Record<string, string>, flags = 0): void {
    // Each field as "literal without indexing, new name" (RFC 7541 §6.2.2), none longer than 126 bytes.
    const block = Object.entries(fields).flatMap(([name, value]) => [
      Buffer.of(0, name.length),
      Buffer.from(name),
      Buffer.of(value.length),
      Buffer.from(value),
    ]);
    this.write(frameTypes.headers, flags | endHeaders, stream, Buffer.concat(block));
  }

  data(stream: number, payload: string | Uint8Array, flags = 0): void {
    this.write(frameTypes.data, flags, stream, Buffer.from(payload as Uint8Array));
  }

  reset(stream: number, code: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(code);
    this.write(frameTypes.resetStream, 0, stream, payload);
  }

  /** The next frame of this type on this stream; skips other frames. */
  next(type: number, stream: number): Promise<Frame> {
    return this.until(`a frame of type ${type} came`, () => {
      this.#parse();
      while (this.#looked < this.frames.length) {
        const frame = this.frames[this.#looked++]!;
        if (frame.type === type && frame.stream === stream) return frame;
      }
      return undefined;
    });
  }

  #parse(): void {
    while (this.received.length >= 9) {
      const end = 9 + this.received.readUIntBE(0, 3);
      if (this.received.length < end) return;
      const type = this.received.readUInt8(3);
      const flags = this.received.readUInt8(4);
      const stream = this.received.readUInt32BE(5);
      this.frames.push({ type, flags, stream, payload: this.received.subarray(9, end) });
      this.received = this.received.subarray(end);
      if (type === frameTypes.settings && flags !== acknowledge) this.write(type, acknowledge, 0);
    }
  }
}
