/** If a server's process exited, that is the reason for a failure, and its last output explains it. */
import { TurnbuckleError } from '../../errors.js';
import type { ServerTransport } from '../transports/server-transport.js';

/** The pipe often closes slightly before the exit is reported; a busy machine takes longer. */
const EXIT_WAIT_MS = 50;
const EXIT_WAIT_AFTER_LOSS_MS = 500;
const EXIT_POLL_MS = 5;

/** The failure as the exit of the process, if that was the cause; otherwise the failure itself. */
export async function explainExit(
  server: string,
  serverTransport: ServerTransport,
  error: unknown,
): Promise<unknown> {
  const isSpecific = error instanceof TurnbuckleError && error.code !== 'CONNECTION_LOST';
  if (serverTransport.type !== 'stdio' || isSpecific) return error;
  const until =
    performance.now() + (error instanceof TurnbuckleError ? EXIT_WAIT_AFTER_LOSS_MS : EXIT_WAIT_MS);
  while (serverTransport.exit === undefined && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, EXIT_POLL_MS));
  return exitError(server, serverTransport, error) ?? error;
}

/** SERVER_EXITED with exit status and last output; undefined while the process runs. */
export function exitError(
  server: string,
  { exit, stderr, startedIn }: ServerTransport,
  cause?: unknown,
): TurnbuckleError | undefined {
  if (exit === undefined) return undefined;
  const how = exit.signal === null ? `with code ${exit.code}` : `on signal ${exit.signal}`;
  const where =
    startedIn === undefined ? '' : ` (relative paths in its command are resolved from ${startedIn})`;
  const said = stderr?.tail() ?? '';
  return new TurnbuckleError('SERVER_EXITED', `Server "${server}" exited ${how}${where}.`, {
    server,
    cause,
    hint:
      said === ''
        ? 'The server wrote nothing to stderr. To see why it exited, run its command in a terminal.'
        : `The server's stderr: ${said}`,
    data: { code: exit.code, signal: exit.signal, stderr: said },
  });
}
