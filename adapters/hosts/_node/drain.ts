import type { NodeRequest, NodeResponse } from './types.js';

const drainLimit = 64 * 2 ** 20;
const drainStallMs = 500;

/**
 * Reads the rest of an upload that was refused, so that a client which writes before it reads gets its answer; not
 * more than 64 MiB, nor for longer than 500 ms without progress. Node alone would read on for ever.

 */
export function drain(request: NodeRequest, response: NodeResponse): void {
  const { stream } = response;
  const nothingLeft = !stream && request.complete && request.readableLength === 0;
  if (request.readableEnded || nothingLeft) return;
  if (stream) {
    // HTTP/2 says in a frame that the rest is not needed, and keeps the connection (RFC 9113 §8.1).
    // Listen on the stream: the response's `finish` comes only after the close that we are about to make.
    stream.on('finish', () => {
      stream.close(0);
      // Unread data would keep the stream open.
      request.resume();
    });
    return;
  }
  let left = drainLimit;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => request.destroy();
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left >= 0) timer?.refresh();
    // Over the limit: give up if the answer is sent; until then stop reading.
    else if (timer) giveUp();
    else request.pause();
  });
  request.on('close', () => clearTimeout(timer));
  // The stall timer starts when the answer has been sent; until then the app may still work on it.
  response.on('finish', () => {
    if (!request.destroyed) timer = setTimeout(giveUp, left < 0 ? 0 : drainStallMs);
  });
  request.resume();
}
