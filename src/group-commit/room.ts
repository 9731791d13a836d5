import { StorageBusy } from '../storage.js';
import { senderOf, type WaitingCreate } from './waiting-create.js';

/** Creates that are counted against a bound. */
class Share {
  count = 0;
  text = 0;

  constructor(
    readonly maxCount: number,
    readonly maxText: number,
  ) {}

  /** Whether a create would exceed it. A single create may be larger than the bound. */
  isFullFor(textLength: number): boolean {
    return this.count > 0 && (this.count >= this.maxCount || this.text + textLength > this.maxText);
  }

  add(sign: 1 | -1, textLength: number): void {
    this.count += sign;
    this.text += sign * textLength;
  }
}

/**
 * The bounds of a queue: how many creates it holds, and how much text they have together. A quarter is free for whoever comes
 * first; when that is taken, each client has a share of a quarter. So one client fills half of it.
 */
export class Room<Caller> {
  readonly #all: Share;
  readonly #free: Share;
  readonly #shares = new Map<unknown, Share>();

  constructor(maxCount: number, maxText: number) {
    this.#all = new Share(maxCount, maxText);
    this.#free = new Share(maxCount / 4, maxText / 4);
  }

  get count(): number {
    return this.#all.count;
  }

  get text(): number {
    return this.#all.text;
  }

  /** @throws {StorageBusy} if the queue is full, or the share of its client */
  reserve(create: WaitingCreate<Caller>): void {
    if (this.#all.isFullFor(create.textLength)) throw new StorageBusy();
    if (this.#free.isFullFor(create.textLength)) this.#reserveShare(create);
    else this.#free.add(1, create.textLength);
    this.#all.add(1, create.textLength);
  }

  #reserveShare(create: WaitingCreate<Caller>): void {
    const sender = senderOf(create);
    const { maxCount, maxText } = this.#all;
    // A script has no clients.
    const [count, text] = sender === null ? [maxCount, maxText] : [maxCount >> 2, maxText / 4];
    const share = this.#shares.get(sender) ?? new Share(count, text);
    if (share.isFullFor(create.textLength))
      throw new StorageBusy('the storage queue is full for this client');
    this.#shares.set(sender, share);
    share.add(1, create.textLength);
    create.isShared = true;
  }

  release(create: WaitingCreate<Caller>): void {
    this.#all.add(-1, create.textLength);
    if (!create.isShared) return void this.#free.add(-1, create.textLength);
    const sender = senderOf(create);
    const share = this.#shares.get(sender)!;
    share.add(-1, create.textLength);
    if (share.count === 0) this.#shares.delete(sender);
  }
}
