import { StorageBusy } from '../storage.js';
import { senderOf, type WaitingCreate } from './waiting-create.js';

/** How many creates are counted against a bound, and how much text they have. */
interface Load {
  count: number;
  text: number;
}

/**
 * The bounds of a queue: how many creates it holds, and how much text they have together. A quarter is free for whoever comes
 * first; when that is taken, each client has a share of a quarter. So one client fills half of it.
 */
export class Room<Caller> implements Load {
  count = 0;
  text = 0;
  /** Those that count in the share of their client. */
  readonly #shared: Load = { count: 0, text: 0 };
  readonly #shares = new Map<unknown, Load>();

  constructor(
    readonly maxCount: number,
    readonly maxText: number,
  ) {}

  /** @throws {StorageBusy} if the queue is full, or the share of its client */
  reserve(create: WaitingCreate<Caller>): void {
    const { textLength } = create;
    if (this.#isFull(this.count, this.text + textLength)) throw new StorageBusy();
    const { count, text } = this.#shared;
    if (this.#isFull(this.count - count, this.text - text + textLength, 4)) this.#reserveShare(create);
    this.count++;
    this.text += textLength;
  }

  /** Whether a part of the queue that holds so many creates is full for another, with which it has this much text. */
  #isFull(count: number, text: number, parts = 1): boolean {
    // A single create may be larger than the bound.
    return count > 0 && ((count + 1) * parts > this.maxCount || text * parts > this.maxText);
  }

  #reserveShare(create: WaitingCreate<Caller>): void {
    const sender = senderOf(create);
    const share = this.#shares.get(sender) ?? { count: 0, text: 0 };
    // A script has no clients.
    if (this.#isFull(share.count, share.text + create.textLength, sender === null ? 1 : 4))
      throw new StorageBusy('the storage queue is full for this client');
    this.#shares.set(sender, share);
    add(share, create, 1);
    add(this.#shared, create, 1);
    create.isShared = true;
  }

  release(create: WaitingCreate<Caller>): void {
    add(this, create, -1);
    if (!create.isShared) return;
    const sender = senderOf(create);
    const share = this.#shares.get(sender)!;
    add(share, create, -1);
    add(this.#shared, create, -1);
    if (share.count === 0) this.#shares.delete(sender);
  }
}

function add(load: Load, { textLength }: WaitingCreate<unknown>, sign: 1 | -1): void {
  load.count += sign;
  load.text += sign * textLength;
}
