/** How many gateways have started each other as servers: a gateway that has itself as a server would never stop. */
import { TurnbuckleError } from 'turnbuckle';

type Environment = Readonly<Record<string, string | undefined>>;

/** An environment variable that servers inherit and pass on to theirs. */
const DEPTH_VARIABLE = 'TURNBUCKLE_DEPTH';
const MAX_DEPTH = 3;

const depthOf = (environment: Environment): number =>
  Number.parseInt(environment[DEPTH_VARIABLE] ?? '', 10) || 0;

/** The environment for the servers of a gateway. */
export const incrementDepth = (environment: Environment): Environment => ({
  ...environment,
  [DEPTH_VARIABLE]: String(depthOf(environment) + 1),
});

/** Throws GATEWAY_LOOP. */
export function checkDepth(environment: Environment): void {
  if (depthOf(environment) < MAX_DEPTH) return;
  throw new TurnbuckleError(
    'GATEWAY_LOOP',
    'Gateway loop: too many gateways have started each other as servers.',
    {
      hint: 'The configuration of one of these gateways has a server entry that starts the same gateway again. Remove that entry.',
    },
  );
}
