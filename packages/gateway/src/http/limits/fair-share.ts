/** Fair shares of a shared resource: no identity can take everything, and some is reserved for the owner. */

/** A request for one more unit of a resource with `max` units. */
export interface FairShareRequest {
  /** Units that the identity holds already. */
  readonly own: number;
  /** Units that all identities hold together. */
  readonly taken: number;
  readonly max: number;
  readonly isOwner: boolean;
}

/** One unit in this many is reserved for the owner, who can then end whatever holds the rest. */
const OWNER_RESERVE_DIVISOR = 16;
/** Up to this many units, nothing has to be left for others. */
const ALWAYS_ALLOWED_COUNT = 16;

/**
 * Whether it is granted. The owner may take anything that is free. Others may hold no more than is still free, so that
 * the next one finds as much again: the first alone gets half, the second half of the rest, and so on.
 */
export function isWithinFairShare({ own, taken, max, isOwner }: FairShareRequest): boolean {
  if (isOwner) return taken < max;
  const free = max - Math.floor(max / OWNER_RESERVE_DIVISOR) - taken;
  return free > 0 && (own < ALWAYS_ALLOWED_COUNT || own < free);
}
