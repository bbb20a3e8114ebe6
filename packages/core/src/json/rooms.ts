/**
 * Room for large JSON. As values it takes up to twenty times the memory of its text, so only so much of it is held at once,
 * whoever sent it and whoever asked for it; what comes meanwhile waits as text, in turn, and not for ever.
 */
import { getHeapStatistics } from 'node:v8';

export interface RoomLimits {
  /** Bytes of values; one alone may take more. */
  readonly maxHeld: number;
  /** Characters of texts that wait. */
  readonly maxWaiting: number;
  readonly waitMs: number;
}

/** A text that is to be read. */
export interface RoomWish {
  readonly length: number;
  /** The most that its values can take, in bytes. */
  readonly bytes: number;
  /** Whose it is: those who wait take turns. */
  readonly owner: string;
}

interface Waiting extends RoomWish {
  readonly enter: (room: Room | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

const { heap_size_limit: HEAP } = getHeapStatistics();
const MIB = 1_024 * 1_024;

const DEFAULTS: RoomLimits = {
  maxHeld: Math.min(HEAP / 4, 512 * MIB),
  maxWaiting: Math.min(HEAP / 8, 256 * MIB),
  waitMs: 30_000,
};

export class Rooms {
  readonly #limits: RoomLimits;
  #held = 0;
  #waiting: Waiting[] = [];
  /** When each of those who wait was last let in. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(limits: Partial<RoomLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  get held(): number {
    return this.#held;
  }

  /** Undefined when there is none in time, or when too much waits for it already: of this owner, or in all. */
  enter(wish: RoomWish): Promise<Room | undefined> {
    if (this.#waiting.length === 0 && this.#fits(wish)) return Promise.resolve(this.#open(wish));
    const lengthOf = (some: readonly Waiting[]): number => some.reduce((sum, { length }) => sum + length, 0);
    const own = lengthOf(this.#waiting.filter(({ owner }) => owner === wish.owner));
    // Nobody takes more than is left for the next.
    const left = this.#limits.maxWaiting - lengthOf(this.#waiting);
    if (own + wish.length > left) return Promise.resolve(undefined);
    return new Promise((enter) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        enter(undefined);
        this.#next();
      }, this.#limits.waitMs).unref();
      const waiting: Waiting = { ...wish, enter, timer };
      this.#waiting.push(waiting);
    });
  }

  /** For rooms only. */
  change(bytes: number): void {
    this.#held += bytes;
    if (bytes < 0) this.#next();
  }

  #fits({ bytes }: RoomWish): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limits.maxHeld;
  }

  #open({ bytes }: RoomWish): Room {
    this.#held += bytes;
    return new Room(this, bytes);
  }

  /** Nobody overtakes whose turn it is: else what is large would wait for ever. */
  #next(): void {
    for (let next = this.#first(); next !== undefined && this.#fits(next); next = this.#first()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      clearTimeout(next.timer);
      this.#turn += 1;
      this.#turns.set(next.owner, this.#turn);
      next.enter(this.#open(next));
    }
    if (this.#waiting.length === 0) this.#turns.clear();
  }

  #first(): Waiting | undefined {
    const lastOf = ({ owner }: Waiting): number => this.#turns.get(owner) ?? 0;
    return this.#waiting.reduce<Waiting | undefined>(
      (first, one) => (first === undefined || lastOf(one) < lastOf(first) ? one : first),
      undefined,
    );
  }
}

/** Of all values in this process. */
export const rooms = new Rooms();

const roomOf = new WeakMap<object, Room>();
let hasAny = false;

/** What one value takes, until it is released: by whoever has the value, or at the end of a turn in which nobody takes it. */
export class Room {
  readonly #rooms: Rooms;
  #bytes: number;
  #leaving: NodeJS.Immediate | undefined;

  constructor(all: Rooms, bytes: number) {
    this.#rooms = all;
    this.#bytes = bytes;
  }

  /** It turned out to take less. */
  shrinkTo(bytes: number): void {
    const less = Math.max(this.#bytes - bytes, 0);
    this.#bytes -= less;
    this.#rooms.change(-less);
  }

  /** The value goes on to somebody, who may claim its room before this turn ends. */
  handOnWith(value: object): void {
    hasAny = true;
    roomOf.set(value, this);
    this.claim();
    this.#leaving = setImmediate(() => this.release());
  }

  claim(): void {
    clearImmediate(this.#leaving);
  }

  release(): void {
    this.claim();
    this.shrinkTo(0);
  }
}

/** The room of a value that was just handed on: whoever asks has to release it. Nearly always there is none. */
export function claimRoom(value: object): Room | undefined {
  const room = hasAny ? roomOf.get(value) : undefined;
  room?.claim();
  return room;
}

/** `to` is made of the parts of `from`, and takes its room. */
export function shareRoom(from: object, to: object): void {
  const room = hasAny ? roomOf.get(from) : undefined;
  if (room !== undefined) roomOf.set(to, room);
}

/** Works on a value that was just handed on, and hands on what comes of it in the same room. */
export function inRoomOf<Result extends object>(
  value: object,
  work: () => Promise<Result> | Result,
): Promise<Result> | Result {
  const room = claimRoom(value);
  return room === undefined ? work() : workIn(room, work);
}

async function workIn<Result extends object>(
  room: Room,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    const result = await work();
    room.handOnWith(result);
    return result;
  } catch (error) {
    room.release();
    throw error;
  }
}
