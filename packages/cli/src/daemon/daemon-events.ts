/** What happens in the daemon, as it happens, for a command that shows what a server of it writes. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { requireUsable } from '../session/connect-servers.js';
import type { DaemonClient } from './daemon-client.js';
import { RemoteRuntime } from './remote-runtime.js';

type EventName = keyof RuntimeEvents;
type Listener = (event: never) => void;

/** Emits events to listeners, as a runtime does. */
class DaemonEvents {
  readonly #listeners = new Map<string, Set<Listener>>();

  readonly on: Runtime['on'] = (name: EventName, listener: Listener) => {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  };

  get names(): string[] {
    return [...this.#listeners.keys()];
  }

  emit(name: string, event: unknown): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(event as never);
  }
}

export interface FollowOptions {
  readonly server: string;
  readonly durationMs: number;
  readonly print: (kind: string, text: string) => void;
  readonly subscribe: (source: Pick<Runtime, 'on'>) => void;
}

/** What the server has written last, then what comes. Ends after the time, or with the signal. */
export async function followServerOutput(
  { signal }: CommandContext,
  client: DaemonClient,
  { server, durationMs, print, subscribe }: FollowOptions,
): Promise<void> {
  const servers = await new RemoteRuntime(client, signal).load();
  requireUsable(servers, server);
  const { stderr = '' } = servers.serverStatus(server);
  for (const line of stderr.split('\n')) if (line.trim() !== '') print('stderr', line);
  const events = new DaemonEvents();
  subscribe(events);
  const over = AbortSignal.timeout(durationMs);
  const following = client.follow(`/api/events?types=${events.names.join(',')}`, {
    signal: AbortSignal.any([signal, over]),
    onEvent: (name, sent) => events.emit(name, dataOf(sent)),
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
    throw new TurnbuckleError('CONNECTION_LOST', 'The daemon stopped.', {
      hint: 'Run the command again to start the server without the daemon.',
    });
}

const dataOf = (sent: unknown): unknown =>
  typeof sent === 'object' && sent !== null && 'data' in sent ? sent.data : undefined;
