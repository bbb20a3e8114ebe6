/** How many gateways started each other as servers: one that has itself among its servers would never end that. */
import { TurnbuckleError } from 'turnbuckle';

type Environment = Readonly<Record<string, string | undefined>>;

/** Handed on to servers that are started, and by those to theirs. */
const NAME = 'TURNBUCKLE_DEPTH';
const MAX_DEPTH = 3;

const depthOf = (environment: Environment): number => Number.parseInt(environment[NAME] ?? '', 10) || 0;

/** The environment for the servers of a gateway. */
export const deeper = (environment: Environment): Environment => ({
  ...environment,
  [NAME]: String(depthOf(environment) + 1),
});

/** Throws GATEWAY_LOOP. */
export function checkDepth(environment: Environment): void {
  if (depthOf(environment) < MAX_DEPTH) return;
  throw new TurnbuckleError('GATEWAY_LOOP', 'Too many gateways have started each other as servers.', {
    hint: 'One of them has itself among its servers: take that entry out of the configuration.',
  });
}
