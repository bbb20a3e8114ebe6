/** Sharing what all use together: nobody takes everything, and the owner always gets in. */

/** Somebody who wants one more of what there is `max` of. */
export interface Wish {
  /** What they have of it already. */
  readonly own: number;
  /** What everybody has of it together. */
  readonly taken: number;
  readonly max: number;
  readonly isOwner: boolean;
}

/** One in so many is kept for the owner, who can then end whatever has the rest. */
const KEPT = 16;
/** So few are no reason to leave room for others. */
const FEW = 16;

/**
 * Whether they may have it. The owner may have what is there; anybody else no more than is still free, so that whoever
 * comes next finds as much again: one alone gets half of all, the second half of the rest, and so on.
 */
export function mayTake({ own, taken, max, isOwner }: Wish): boolean {
  if (isOwner) return taken < max;
  const free = max - Math.floor(max / KEPT) - taken;
  return free > 0 && (own < FEW || own < free);
}
