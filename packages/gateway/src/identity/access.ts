import type { TokenAccess } from 'turnbuckle/host';

/** The access that a route requires: none, calling tools, reading state, or changing it. */
export type Access = 'open' | TokenAccess;

export type { TokenAccess };
