import type { Caller } from 'turnbuckle';
import { OWNER } from './owner.js';

/**
 * The owner's token stands for the user, like the command line: its calls are the host's, not an agent's.
 * In a view, the limits of the view apply to the owner too.
 */
export const hostOrCaller = (caller: Caller): Caller | undefined =>
  caller.id === OWNER && caller.limits === undefined ? undefined : caller;
