/** What happens in the daemon, as it happens, for a command that shows what a server of it writes. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { requireUsable } from '../connect-servers.js';
import { AttachedServers } from './attached-servers.js';
import type { DaemonClient } from './daemon-client.js';

type Name = keyof RuntimeEvents;
type Take = (event: never) => void;

/** Passes events on to whoever listens, as a runtime does. */
class DaemonEvents {
  readonly #listeners = new Map<string, Set<Take>>();

  readonly on: Runtime['on'] = (name: Name, listener: Take) => {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  };

  get names(): string[] {
    return [...this.#listeners.keys()];
  }

  tell(name: string, event: unknown): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(event as never);
  }
}

export interface Following {
  readonly server: string;
  readonly forMs: number;
  readonly tell: (kind: string, text: string) => void;
  readonly listenTo: (source: Pick<Runtime, 'on'>) => void;
}

/** What the server has written last, then what comes. Ends after the time, or with the signal. */
export async function followDaemon(
  { signal }: CommandContext,
  client: DaemonClient,
  { server, forMs, tell, listenTo }: Following,
): Promise<void> {
  const servers = await AttachedServers.open(client, signal);
  requireUsable(servers, server);
  const { stderr = '' } = servers.serverStatus(server);
  for (const line of stderr.split('\n')) if (line.trim() !== '') tell('stderr', line);
  const events = new DaemonEvents();
  listenTo(events);
  const over = AbortSignal.timeout(forMs);
  const following = client.follow(`/api/events?types=${events.names.join(',')}`, {
    signal: AbortSignal.any([signal, over]),
    onEvent: (name, sent) => events.tell(name, dataOf(sent)),
  });
  const failure = await Promise.race([
    following.catch(() => undefined),
    servers.connect(server).then(
      () => undefined,
      (error: unknown) => error,
    ),
  ]);
  if (failure instanceof TurnbuckleError && !failure.retryable) throw failure;
  await following.catch((error: unknown) => {
    if (!over.aborted) throw error;
  });
  signal.throwIfAborted();
  if (!over.aborted)
    throw new TurnbuckleError('CONNECTION_LOST', 'The daemon has ended.', {
      hint: 'Without it, the server is started for this command: run it again.',
    });
}

const dataOf = (sent: unknown): unknown =>
  typeof sent === 'object' && sent !== null && 'data' in sent ? sent.data : undefined;
