/** What the work of the steward costs, in thousandths of a unit of energy. */
import type { RequestKind } from '../requests/request.js';

/** Two units a second are two thousandths a millisecond. */
const PER_MILLISECOND = 2;

/** Counted once for each request. With the time of its steps, requests cost 5-10, 10-20, 20-50 and 2-5 units. */
const BASE: Readonly<Record<RequestKind, number>> = {
  add_server: 5_000,
  test_server: 10_000,
  search_servers: 20_000,
  modify_server: 2_000,
  remove_server: 2_000,
};

export const baseCost = (kind: RequestKind): number => BASE[kind];

export const durationCost = (milliseconds: number): number =>
  Math.max(0, Math.round(milliseconds * PER_MILLISECOND));
