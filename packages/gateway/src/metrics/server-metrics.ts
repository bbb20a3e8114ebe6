/** How the servers are, read off when somebody asks. */
import type { Runtime, ServerStatus } from 'turnbuckle';
import { type Family, labelText, oneOf, type Sample } from './exposition.js';

const STATUSES = ['connected', 'failed', 'needs-auth', 'pending', 'disabled'] as const;
const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;

type Read = (server: ServerStatus) => Iterable<Sample>;

/** `status` is asked once for all of them. */
export function serverFamilies(runtime: Pick<Runtime, 'status'>): () => Family[] {
  return () => {
    const servers = runtime.status();
    const family = (name: string, help: string, read: Read): Family => ({
      name,
      type: 'gauge',
      help,
      samples: () => servers.flatMap((server) => [...read(server)]),
    });
    const number = (read: (server: ServerStatus) => number): Read => {
      return (server) => [{ labels: labelText({ server: server.name }), value: read(server) }];
    };
    return [
      family('turnbuckle_server_up', 'Whether the server is connected.', number(isUp)),
      family('turnbuckle_server_status', 'In which status the server is: 1 for that one.', (server) =>
        oneOf(STATUSES, { labels: { server: server.name }, label: 'status', value: server.status }),
      ),
      family('turnbuckle_server_breaker', 'How the circuit breaker stands: 1 for that state.', (server) =>
        oneOf(BREAKER_STATES, { labels: { server: server.name }, label: 'state', value: server.breaker }),
      ),
      family(
        'turnbuckle_server_calls_in_flight',
        'Calls on their way to the server.',
        number(({ inFlight }) => inFlight),
      ),
      family(
        'turnbuckle_server_calls_queued',
        'Calls that wait for a place.',
        number(({ queued }) => queued),
      ),
      family(
        'turnbuckle_server_tools',
        'Tools that the server offers.',
        number(({ tools }) => tools.length),
      ),
    ];
  };
}

const isUp = ({ status }: ServerStatus): number => (status === 'connected' ? 1 : 0);
