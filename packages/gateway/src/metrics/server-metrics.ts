/** The state of the servers, read on each scrape. */
import type { Runtime, ServerStatus } from 'turnbuckle';
import { type Family, labelText, type Sample, stateSamples } from './exposition.js';

const STATUSES = ['connected', 'failed', 'needs-auth', 'pending', 'disabled'] as const;
const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;

type Read = (server: ServerStatus) => Iterable<Sample>;

/** Calls `status` once for all of them. */
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
      family(
        'turnbuckle_server_status',
        'Status of the server (1 for the current status, 0 for the others).',
        (server) =>
          stateSamples(STATUSES, { labels: { server: server.name }, label: 'status', value: server.status }),
      ),
      family(
        'turnbuckle_server_breaker',
        'State of the circuit breaker (1 for the current state, 0 for the others).',
        (server) =>
          stateSamples(BREAKER_STATES, {
            labels: { server: server.name },
            label: 'state',
            value: server.breaker,
          }),
      ),
      family(
        'turnbuckle_server_calls_in_flight',
        'Calls to the server in progress.',
        number(({ inFlight }) => inFlight),
      ),
      family(
        'turnbuckle_server_calls_queued',
        "Calls waiting in the server's queue.",
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
