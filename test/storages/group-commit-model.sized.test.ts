// Thousands of random schedules on a simulated clock, held against what a database did with each plant.
import type { BatchCall, CreateOutcome, NewPlant, PlantStorage, StorageContext } from 'plant-store';
import { groupCommit, RolledBack } from 'plant-store';
import { it, onTestFinished } from 'vitest';
import { SimulatedClock } from '../support/clock.js';
import { isHeavy } from '../support/heavy.js';
import { seed } from '../support/random.js';
import { current } from '../support/requests.js';
import { type Random, runSchedules } from '../support/schedules.js';
import { useClock } from '../support/use-clock.js';

const requestOf = (token: string) => ({
  method: 'POST',
  url: '/plants',
  headers: { authorization: `Bearer ${token}` },
});

type Context = StorageContext<string>;

const lost = new Error('connection lost');
const conflict = new Error('deadlock');
const fault = new Error('value too long');
const locked = new Error('lock timeout');

/** A create, and what became of it. */
interface Told {
  readonly plant: NewPlant;
  readonly key: string;
  readonly at: number;
  readonly kind: 'good' | 'bad plant' | 'locked plant' | 'no plant';
  answer?: { readonly outcome: unknown; readonly at: number; readonly storedBy: string | undefined };
}

/** A database behind a `createMany` that fails in every way that a database can. */
class Database {
  /** The name of the plant that is stored under a key. */
  readonly stored = new Map<string, string>();
  /** Ids that were rolled back alone, so that later creates of them join one that waits. */
  readonly lockedKeys = new Set<string>();
  /** Names of plants in calls that were sent. */
  readonly sent = new Set<string>();
  /** Calls that are neither settled nor aborted. */
  readonly open = new Set<BatchCall>();
  readonly violations: string[] = [];
  mood: 'well' | 'refuses' | 'hangs' | 'moody' = 'well';
  /** How often `createMany` was called. */
  calls = 0;
  /** The creates of each call that is not settled, aborted or not. */
  readonly #calls = new Map<BatchCall, { readonly count: number; readonly at: number }>();
  /** Names of plants that were in a call. */
  readonly #called = new Set<string>();
  #hanging: (() => void)[] = [];
  #isHealed = false;

  constructor(
    readonly random: Random,
    readonly clock: SimulatedClock,
    readonly maxBatch: number,
    readonly timeoutMs: number,
  ) {}

  /** Creates in calls that can still settle. A call that was aborted is forgotten a timeout later. */
  inCalls(): number {
    const since = this.clock.now() - this.timeoutMs;
    const calls = [...this.#calls.values()].filter(({ at }) => at > since);
    return calls.reduce((sum, { count }) => sum + count, 0);
  }

  /** Available from now on; hung statements continue now, or never. */
  heal(forGood = false): void {
    this.#isHealed = forGood;
    this.mood = 'well';
    for (const goOn of this.#hanging.splice(0)) goOn();
  }

  readonly createMany = (
    plants: readonly NewPlant[],
    contexts: readonly Context[],
    call: BatchCall,
  ): readonly CreateOutcome[] | Promise<readonly CreateOutcome[]> => {
    this.calls++;
    this.#check(plants, contexts);
    for (const other of this.open) if (other.signal.aborted) this.open.delete(other);
    if (this.open.size > 0) this.violations.push('two calls in flight at a time');
    if (this.mood === 'well' && this.random() < 0.3 && !this.#isLocked(plants)) {
      return this.#spoil(plants, contexts, this.#insert(plants, contexts));
    }
    this.open.add(call);
    this.#calls.set(call, { count: plants.length, at: this.clock.now() });
    return this.#answer(plants, contexts, call)
      .then((outcomes) => this.#spoil(plants, contexts, outcomes))
      .finally(() => {
        this.open.delete(call);
        this.#calls.delete(call);
      });
  };

  /** As a `createMany` that works on the arrays and plants that it gets. */
  #spoil<T>(plants: readonly NewPlant[], contexts: readonly Context[], outcomes: T): T {
    if (this.random() < 0.5) return outcomes;
    for (const plant of plants) Object.assign(plant, { id: 0n, name: null, tag: 'x'.repeat(1_000) });
    (plants as NewPlant[]).length = 0;
    (contexts as Context[]).reverse();
    return outcomes;
  }

  #isLocked(plants: readonly NewPlant[]): boolean {
    return !this.#isHealed && plants.some(({ name }) => name.startsWith('locked'));
  }

  async #answer(plants: readonly NewPlant[], contexts: readonly Context[], call: BatchCall) {
    if (this.random() < 0.4) {
      // As a storage with a pool: nothing is sent before there is a connection.
      call.sent = false;
      await this.#latency();
      if (this.mood === 'hangs') await this.#hang();
      if (call.signal.aborted) throw new Error('nobody waits');
      call.sent = true;
    }
    if (plants.length === 1) this.lockedKeys.add(`${contexts[0]!.caller} ${plants[0]!.id}`);
    if (this.mood === 'refuses') throw new RolledBack('conflict', conflict);
    if (this.#isLocked(plants)) {
      await this.clock.sleep(50 * this.random());
      this.#spoil(plants, contexts, undefined);
      throw new RolledBack('locked', locked);
    }
    await this.#latency();
    const dice = this.random();
    if (this.mood === 'moody') {
      if (dice < 0.2) throw new RolledBack('conflict', conflict);
      if (dice < 0.3) return this.#lose(plants, contexts);
      if (dice < 0.35) return [];
    }
    const storesFirst = this.random() < 0.5;
    const early = storesFirst ? this.#insert(plants, contexts) : undefined;
    for (const { name } of plants) this.sent.add(name);
    if (this.mood === 'hangs' || (this.mood === 'moody' && dice < 0.45)) await this.#hang();
    return early ?? this.#insert(plants, contexts);
  }

  #lose(plants: readonly NewPlant[], contexts: readonly Context[]): never {
    for (const { name } of plants) this.sent.add(name);
    if (this.random() < 0.5) this.#insert(plants, contexts);
    throw lost;
  }

  #latency(): Promise<void> {
    if (this.#isHealed) return this.clock.sleep(20 * this.random());
    return this.clock.sleep(this.random() < 0.9 ? 20 * this.random() : 400 * this.random());
  }

  /** Until the database is well; some hang for ever, as on a connection whose other end vanished. */
  #hang(): Promise<void> {
    const forEver = this.random() < 0.2;
    return new Promise((resolve, reject) => {
      this.#hanging.push(forEver ? () => reject(lost) : resolve);
    });
  }

  #insert(plants: readonly NewPlant[], contexts: readonly Context[]): readonly CreateOutcome[] {
    if (plants.some(({ name }) => name.startsWith('bad'))) {
      for (const { name } of plants) this.sent.delete(name);
      throw new RolledBack('rejected', fault);
    }
    return plants.map(({ id, name }, i) => {
      this.sent.add(name);
      const key = `${contexts[i]!.caller} ${id}`;
      if (this.stored.has(key)) return 'taken';
      this.stored.set(key, name);
      return 'created';
    });
  }

  #check(plants: readonly NewPlant[], contexts: readonly Context[]): void {
    const keys = plants.map(({ id }, i) => `${contexts[i]!.caller} ${id}`);
    if (new Set(keys).size < keys.length) this.violations.push(`an id twice in ${keys}`);
    if (plants.some(({ id }, i) => i > 0 && id < plants[i - 1]!.id)) this.violations.push(`unsorted ${keys}`);
    if (plants.length === 0 || plants.length > this.maxBatch)
      this.violations.push(`a batch of ${plants.length}`);
    for (const { name } of plants) if (this.sent.has(name)) this.violations.push(`${name} is sent twice`);
    // A create that waits for a locked row, was sent before, is settled or has too little time left may have opened the batch,
    // and is not in it.
    const leader = current.getStore() as Told | undefined;
    const isIn = keys.includes(leader?.key ?? '');
    const isOld = leader && this.clock.now() - leader.at > 0.8 * this.timeoutMs;
    if (
      !leader ||
      !(
        isIn ||
        isOld ||
        leader.answer ||
        this.#called.has(leader.plant.name) ||
        this.lockedKeys.has(leader.key)
      )
    )
      this.violations.push(`${keys} in the context of ${leader?.key}`);
    for (const { name } of plants) this.#called.add(name);
  }
}

/** One run of a queue under random creators and a random database. */
class Schedule {
  readonly clock = new SimulatedClock();
  readonly told: Told[] = [];
  readonly options: { maxBatch: number; maxQueued: number; maxQueuedText: number; timeoutMs: number };
  readonly database: Database;
  readonly queue: PlantStorage<string>;
  constructor(readonly random: Random) {
    this.options = {
      maxBatch: this.#below(8) + 1,
      maxQueued: this.#below(20) + 4,
      maxQueuedText: 60 + this.#below(400),
      timeoutMs: 100 + this.#below(2_000),
    };
    this.database = new Database(random, this.clock, this.options.maxBatch, this.options.timeoutMs);
    const namespace = ({ caller }: Context) => caller;
    useClock(this.clock);
    this.queue = groupCommit(this.database.createMany, { ...this.options, namespace });
  }

  async run(): Promise<string[]> {
    for (let step = 0; step < 5; step++) {
      if (this.random() < 0.3) this.#changeMood();
      const count = this.random() < 0.2 ? this.#below(25) : this.#below(4);
      for (let i = 0; i < count; i++) this.#create();
      await this.clock.endTurn();
      this.#checkBounds();
      await this.clock.advance(
        this.random() < 0.6 ? 30 * this.random() : this.options.timeoutMs * this.random(),
      );
    }
    await this.#recovers();
    // Until calls that were slow before the database was well have ended.
    await this.clock.advance(2 * this.options.timeoutMs + 2_000);
    this.#isAlive();
    await this.#isFair();
    await this.#hasRoom();
    return [...this.database.violations, ...this.told.flatMap((told) => this.#lies(told))];
  }

  #below(limit: number): number {
    return Math.floor(limit * this.random());
  }

  #changeMood(): void {
    const mood = (['well', 'refuses', 'hangs', 'moody'] as const)[this.#below(4)]!;
    if (mood === 'well') this.database.heal();
    this.database.mood = mood;
  }

  #create(kind = this.#kind(), id = BigInt(this.#below(6)), token = `token ${this.#below(4)}`): Told {
    const caller = this.random() < 0.5 ? 'garden' : 'park';
    const first = kind === 'bad plant' ? 'bad' : kind === 'locked plant' ? 'locked' : 'plant';
    const plant = { id, name: `${first} ${this.told.length}` };
    const told: Told = { plant, key: `${caller} ${id}`, at: this.clock.now(), kind };
    this.told.push(told);
    const settle = (outcome: unknown) => {
      if (told.answer) this.database.violations.push(`two answers to ${plant.name}`);
      told.answer = { outcome, at: this.clock.now(), storedBy: this.database.stored.get(told.key) };
    };
    const given = kind === 'no plant' ? ({ id } as NewPlant) : plant;
    const context = { caller, request: requestOf(token), signal: {} as AbortSignal };
    current.run(told, () => this.queue.create(given, context)).then(settle, settle);
    return told;
  }

  #kind(): Told['kind'] {
    const dice = this.random();
    if (dice < 0.7) return 'good';
    if (dice < 0.85) return 'bad plant';
    return dice < 0.95 ? 'locked plant' : 'no plant';
  }

  /** Counts the creates that are pending, and those that calls of `createMany` hold, aborted or not. */
  #checkBounds(): void {
    const unanswered = this.told.filter(({ answer }) => !answer);
    const text = unanswered.reduce((sum, { plant }) => sum + plant.name.length, 0);
    const { maxQueued, maxQueuedText } = this.options;
    const inCalls = this.database.inCalls();
    const held = Math.max(unanswered.length, inCalls);
    if (held > maxQueued)
      this.database.violations.push(
        `${unanswered.length} unanswered and ${inCalls} in calls are more than ${maxQueued}`,
      );
    if (text > maxQueuedText) this.database.violations.push(`${text} characters are held`);
  }

  /** Once the database is well, creates succeed again. */
  async #recovers(): Promise<void> {
    this.database.heal(true);
    const limit = 1_000 + this.options.timeoutMs;
    const since = this.clock.now();
    for (let id = 1_000n; ; id++) {
      const told = this.#create('good', id);
      await this.clock.advance(50);
      if (told.answer?.outcome === 'created') return;
      if (this.clock.now() - since > limit) {
        this.database.violations.push(`not alive again ${this.clock.now() - since} ms after the database`);
        return;
      }
    }
  }

  /** Creates settle although no more creates enter. */
  #isAlive(): void {
    for (const { plant, answer } of this.told)
      if (!answer) this.database.violations.push(`${plant.name} waits until another create enters`);
  }

  /** Rejected creates of one client delay another by their calls, which are few. */
  async #isFair(): Promise<void> {
    const { maxBatch, maxQueued, timeoutMs } = this.options;
    const calls = 1.4 * maxQueued + 6 * Math.ceil(maxQueued / maxBatch);
    // A call takes 20 ms at most.
    const limit = 20 * calls;
    if (maxBatch === 1 || timeoutMs < limit || this.random() < 0.85) return;
    this.database.calls = 0;
    const creates = Array.from({ length: maxQueued - 1 }, (_, i) =>
      this.#create('bad plant', 3_001n + BigInt(i), 'rejected'),
    );
    const stranger = this.#create('good', 3_000n, 'stranger');
    await this.clock.advance(limit);
    const isFull = /queue is full/.test(String(stranger.answer?.outcome));
    if (stranger.answer?.outcome !== 'created' && !isFull)
      this.database.violations.push(`a stranger waits: ${stranger.answer?.outcome}`);
    await this.clock.advance(10 * timeoutMs);
    if (this.database.calls > calls)
      this.database.violations.push(`${this.database.calls} calls for ${creates.length + 1} creates`);
  }

  /** Once all creates are settled, the queue accepts as many as at the start. */
  async #hasRoom(): Promise<void> {
    // Until a call that was aborted and never settles counts no more.
    await this.clock.advance(this.options.timeoutMs);
    const creates = Array.from({ length: this.options.maxQueued }, (_, i) =>
      this.#create('good', 2_000n + BigInt(i), `client ${i}`),
    );
    const text = creates.reduce((sum, { plant }) => sum + plant.name.length, 0);
    await this.clock.advance(10 * this.options.timeoutMs);
    const refused = creates.filter(({ answer }) => /queue is full/.test(String(answer?.outcome)));
    if (refused.length > 0 && text <= this.options.maxQueuedText) {
      this.database.violations.push(
        `no room for ${refused.length} of ${creates.length}: ${refused[0]?.answer?.outcome}`,
      );
    }
  }

  /** What is untrue of an outcome, or came after the timeout. */
  #lies({ plant, key, at, kind, answer }: Told): string[] {
    const who = `${plant.name} (${key}, ${kind})`;
    if (!answer) return [`${who} has no answer`];
    const { outcome } = answer;
    const lies: string[] = [];
    const expectTrue = (truth: boolean, lie: string) => truth || lies.push(`${who} ${lie}: ${outcome}`);
    const isStored = this.database.stored.get(key) === plant.name;
    expectTrue(answer.at - at <= this.options.timeoutMs, `waited for ${answer.at - at} ms`);
    if (outcome === 'created') expectTrue(isStored, 'is not stored');
    else if (outcome === 'taken')
      expectTrue(answer.storedBy !== undefined && answer.storedBy !== plant.name, 'is not taken');
    else {
      const { name, message } = outcome as Error;
      const mayBeStored = outcome === lost || /did not answer within|one outcome per plant/.test(message);
      if (mayBeStored) expectTrue(this.database.sent.has(plant.name) || !isStored, 'was not sent');
      else expectTrue(!isStored, 'is stored');
      const known = mayBeStored || name === 'StorageBusy' || (outcome as { cause?: unknown }).cause === fault;
      if (kind === 'good') expectTrue(known, 'has a strange answer');
    }
    if (kind === 'no plant') expectTrue(outcome instanceof TypeError, 'is no plant');
    if (kind === 'bad plant') expectTrue(!isStored, 'is stored');
    return lies;
  }
}

// Schedules that once were late by seconds, or waited for another create.
const hazards = [1_994_172_162, 653_543_204, 1_776_505_780, 1_722_295_422];
const count = isHeavy ? 25_000 : 3_000;

it(`a create settles truly, before its timeout, in the context of its batch, whatever happens (SEED=${seed})`, async () => {
  onTestFinished(() => useClock());
  await runSchedules(count, (random) => new Schedule(random).run(), hazards);
}, 600_000);
