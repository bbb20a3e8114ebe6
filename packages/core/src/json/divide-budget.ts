/** Shares room among the members of a value: the small ones get what they need, the large ones what is left, in equal parts. */
import { ExactNumber } from './exact-number.js';
import { firstKeys } from './wide-objects.js';

/** What a bracket, a comma and a number take. */
export const PART = 4;
/** With less nobody can tell what it is. Where there is no room for so much of each, the last are left out. */
const MIN_SHARE = 32;
const MAX_DEPTH = 64;
/** More often it makes no difference that anybody sees. */
const ROUNDS = 4;

interface Members {
  readonly length: number;
  at(index: number): unknown;
}

/** The room of each member's value, for as many as there is room for. */
export function sharesOf(members: Members, room: number, nameSize = (_index: number): number => 0): number[] {
  const count = members.length;
  if (room === Number.POSITIVE_INFINITY) return Array(count).fill(room);
  const most = Math.min(count, Math.ceil(Math.max(room, 1) / PART));
  const sizes = new Array<number>(most).fill(Number.POSITIVE_INFINITY);
  let share = Math.max(room / Math.max(most, 1), MIN_SHARE);
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = share;
    for (let index = 0; index < most; index += 1) {
      if (sizes[index] !== Number.POSITIVE_INFINITY) continue;
      const size = nameSize(index) + sizeUpTo(members.at(index), share);
      if (size <= share) sizes[index] = size;
    }
    const large = sizes.filter((size) => size === Number.POSITIVE_INFINITY).length;
    const small = sizes.reduce((sum, size) => (size === Number.POSITIVE_INFINITY ? sum : sum + size), 0);
    share = Math.max((room - small) / Math.max(large, 1), MIN_SHARE);
    if (large === 0 || share <= before) break;
  }
  return inOrder(sizes, share, { room, nameSize });
}

interface Sharing {
  readonly room: number;
  readonly nameSize: (index: number) => number;
}

function inOrder(sizes: readonly number[], share: number, { room, nameSize }: Sharing): number[] {
  const shares: number[] = [];
  let left = room;
  for (const [index, size] of sizes.entries()) {
    if (left <= 0) break;
    const taken = Math.min(size, share, left);
    left -= taken;
    shares.push(taken - nameSize(index));
  }
  return shares;
}

/** About how many characters it takes to show; of what takes more than `max`, some number above that. */
export function sizeUpTo(value: unknown, max: number, depth = 0): number {
  if (typeof value === 'string') return PART + value.length;
  if (value instanceof ExactNumber) return PART + value.text.length;
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return PART;
  let size = PART;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size <= max; index += 1)
      size += sizeUpTo(value[index], max - size, depth + 1);
    return size;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return PART;
  for (const key of firstKeys(value)) {
    if (size > max) break;
    size += key.length + sizeUpTo(Reflect.get(value, key), max - size, depth + 1);
  }
  return size;
}
