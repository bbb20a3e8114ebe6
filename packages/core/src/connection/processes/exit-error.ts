/** When a server's process ended, that is the reason for what failed, and what it said last explains it. */
import { TurnbuckleError } from '../errors.js';
import type { Carrier } from './carrier.js';

/** The pipe often closes a moment before the exit is reported; a busy machine takes longer. */
const REPORT_MS = 50;
const AFTER_LOSS_MS = 500;
const LOOK_MS = 5;

/** The failure as the end of the process, if that is what it was; otherwise the failure itself. */
export async function explainExit(server: string, carrier: Carrier, error: unknown): Promise<unknown> {
  const told = error instanceof TurnbuckleError && error.code !== 'CONNECTION_LOST';
  if (carrier.type !== 'stdio' || told) return error;
  const until = Date.now() + (error instanceof TurnbuckleError ? AFTER_LOSS_MS : REPORT_MS);
  while (carrier.exit === undefined && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return exitError(server, carrier, error) ?? error;
}

/** SERVER_EXITED with how it ended and what it wrote last; undefined while the process runs. */
export function exitError(
  server: string,
  { exit, stderr, startedIn }: Carrier,
  cause?: unknown,
): TurnbuckleError | undefined {
  if (exit === undefined) return undefined;
  const how = exit.signal === null ? `with code ${exit.code}` : `by signal ${exit.signal}`;
  const where = startedIn === undefined ? '' : ` (started in ${startedIn}, where its relative paths lead)`;
  const said = stderr?.tail() ?? '';
  return new TurnbuckleError('SERVER_EXITED', `Server "${server}" ended ${how}${where}.`, {
    server,
    cause,
    hint:
      said === '' ? 'It wrote nothing to stderr. Run its command by hand to see why.' : `It wrote: ${said}`,
    data: { code: exit.code, signal: exit.signal, stderr: said },
  });
}
