import type { Caller } from 'turnbuckle';
import { OWNER } from './tokens/token-store.js';

/**
 * Who comes with the owner's token is the user in person, like the command line: not an agent that is asked about.
 * Through a view that bounds what can be done there, the bounds hold for the owner too.
 */
export const hostOrCaller = (caller: Caller): Caller | undefined =>
  caller.id === OWNER && caller.limits === undefined ? undefined : caller;
