/**
 * Divides a budget among the members of a value: small ones get what they need, large ones equal shares of the rest.
 */
import { ExactNumber } from './exact-number.js';
import { firstKeys } from './wide-objects.js';

/** The cost of a bracket, a comma or a number. */
export const PART_CHARACTERS = 4;
/** With less, a value is not recognizable. If there is not enough for each member, the last ones are left out. */
const MIN_SHARE = 32;
const MAX_DEPTH = 64;
/** More iterations make no visible difference. */
const MAX_ROUNDS = 4;

interface Members {
  readonly length: number;
  at(index: number): unknown;
}

/** The budget of each member's value, for as many members as fit. */
export function divideBudget(
  members: Members,
  room: number,
  nameSize = (_index: number): number => 0,
): number[] {
  const count = members.length;
  if (room === Number.POSITIVE_INFINITY) return Array(count).fill(room);
  const most = Math.min(count, Math.ceil(Math.max(room, 1) / PART_CHARACTERS));
  const sizes = new Array<number>(most).fill(Number.POSITIVE_INFINITY);
  let share = Math.max(room / Math.max(most, 1), MIN_SHARE);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = share;
    for (let index = 0; index < most; index += 1) {
      if (sizes[index] !== Number.POSITIVE_INFINITY) continue;
      const size = nameSize(index) + estimateSize(members.at(index), share);
      if (size <= share) sizes[index] = size;
    }
    const large = sizes.filter((size) => size === Number.POSITIVE_INFINITY).length;
    const small = sizes.reduce((sum, size) => (size === Number.POSITIVE_INFINITY ? sum : sum + size), 0);
    share = Math.max((room - small) / Math.max(large, 1), MIN_SHARE);
    if (large === 0 || share <= before) break;
  }
  return assignShares(sizes, share, { room, nameSize });
}

interface ShareOptions {
  readonly room: number;
  readonly nameSize: (index: number) => number;
}

function assignShares(sizes: readonly number[], share: number, { room, nameSize }: ShareOptions): number[] {
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

/** Estimates how many characters a value takes to show; above `max`, any larger number. */
export function estimateSize(value: unknown, max: number, depth = 0): number {
  if (typeof value === 'string') return PART_CHARACTERS + value.length;
  if (value instanceof ExactNumber) return PART_CHARACTERS + value.text.length;
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return PART_CHARACTERS;
  let size = PART_CHARACTERS;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size <= max; index += 1)
      size += estimateSize(value[index], max - size, depth + 1);
    return size;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return PART_CHARACTERS;
  for (const key of firstKeys(value)) {
    if (size > max) break;
    size += key.length + estimateSize(Reflect.get(value, key), max - size, depth + 1);
  }
  return size;
}
