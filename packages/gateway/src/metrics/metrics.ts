/**
 * What Prometheus is told: numbers kept by listening to the runtime, made into text when somebody asks. No label has
 * more values than there is room for, whatever servers and callers come up with.
 */
import type { InvocationLog } from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';
import { CallMetrics } from './call-metrics.js';
import { Counter } from './counter.js';
import { type Family, renderFamilies } from './exposition.js';
import { type ListMetricsOptions, watchLists } from './list-metrics.js';
import { logFamilies } from './log-metrics.js';
import { watchProcess } from './process-metrics.js';
import { serverFamilies } from './server-metrics.js';

type Watched = Pick<Runtime, 'on' | 'status' | 'approvals' | 'catalog'>;

export interface MetricsOptions {
  readonly log?: Pick<InvocationLog, 'counts' | 'waitingBytes' | 'isUp'> | undefined;
  /** How often a list for a caller was at hand. */
  readonly offers?: ListMetricsOptions['offers'];
  /** The runtime's clock. */
  readonly now?: ListMetricsOptions['now'] | undefined;
  /** Tools that get a series of their own (2,000). */
  readonly maxTools?: number | undefined;
}

export interface Metrics {
  /** Everything as Prometheus reads it; see CONTENT_TYPE. */
  text(): string;
  /** A counter of the host's own beside ours. */
  counter(name: string, help: string): Counter;
  /** A number of the host's own that is read when somebody asks. */
  gauge(name: string, help: string, read: () => number): void;
  /** Also counts the calls of this one, as those of one server of that name. */
  countCalls(runtime: Pick<Runtime, 'on'>, server: string): void;
  close(): void;
}

const MOST_TOOLS = 2_000;

/** Counts from now on, until it is closed. */
export function createMetrics(
  runtime: Watched,
  { log, offers, now = Date.now, maxTools = MOST_TOOLS }: MetricsOptions = {},
): Metrics {
  const calls = new CallMetrics(maxTools);
  const happened = new Happenings();
  const ofProcess = watchProcess();
  const ofServers = serverFamilies(runtime);
  const ofLists = watchLists(runtime, { offers, now });
  const own: Family[] = [];
  const stops = [runtime.on('call.settled', (event) => calls.record(event)), ...happened.listen(runtime)];
  const inFlight: Family = {
    name: 'turnbuckle_calls_in_flight',
    type: 'gauge',
    help: 'Calls on their way, those that wait for a person or for a place included.',
    samples: () => [{ labels: '', value: happened.inFlight }],
  };
  const pending: Family = {
    name: 'turnbuckle_approvals_pending',
    type: 'gauge',
    help: 'Calls that wait for a person.',
    samples: () => [{ labels: '', value: runtime.approvals.pending().length }],
  };
  const ofLog = log === undefined ? [] : logFamilies(log);
  return {
    text: () =>
      renderFamilies([
        ...calls.families(),
        ...happened.families(),
        ...ofServers(),
        ...ofLists.families,
        inFlight,
        pending,
        ...ofLog,
        ...ofProcess.families(),
        ...own,
      ]),
    counter: (name, help) => {
      const counter = new Counter(name, help);
      own.push(counter);
      return counter;
    },
    gauge: (name, help, read) => {
      own.push({ name, help, type: 'gauge', samples: () => [{ labels: '', value: read() }] });
    },
    countCalls: (other, server) => {
      stops.push(
        other.on('call.settled', (event) => calls.record({ ...event, toolName: `${server}_${event.tool}` })),
        ...happened.listenToCalls(other),
      );
    },
    close: () => {
      for (const stop of stops) stop();
      ofLists.close();
      ofProcess.close();
    },
  };
}

/** Counters of what happens beside calls. */
class Happenings {
  readonly #errors = new Counter('turnbuckle_call_errors_total', 'Calls without a result, by error code.');
  readonly #decisions = new Counter('turnbuckle_decisions_total', 'What was decided about calls.');
  readonly #answers = new Counter('turnbuckle_approvals_total', 'What people answered.');
  readonly #waited = new Counter(
    'turnbuckle_approval_wait_seconds_total',
    'How long calls waited for people.',
  );
  readonly #reconnects = new Counter(
    'turnbuckle_server_reconnects_total',
    'Attempts to connect a server again.',
  );
  readonly #failures = new Counter('turnbuckle_server_failures_total', 'Episodes of failure of a server.');
  readonly #recoveries = new Counter('turnbuckle_server_recoveries_total', 'Episodes of failure that ended.');
  readonly #listeners = new Counter(
    'turnbuckle_listener_failures_total',
    'Listeners inside the process that failed, by event.',
  );

  readonly #onTheWay = new Set<string>();

  get inFlight(): number {
    return this.#onTheWay.size;
  }

  listenToCalls(runtime: Pick<Runtime, 'on'>): (() => void)[] {
    return [
      runtime.on('call.started', ({ requestId }) => void this.#onTheWay.add(requestId)),
      runtime.on('call.settled', ({ requestId, error }) => {
        this.#onTheWay.delete(requestId);
        if (error !== undefined) this.#errors.add({ code: error.code });
      }),
      runtime.on('call.decided', ({ decision }) => this.#decisions.add({ decision })),
    ];
  }

  listen(runtime: Pick<Runtime, 'on'>): (() => void)[] {
    return [
      ...this.listenToCalls(runtime),
      runtime.on('approval.answered', ({ answer, waitedMs }) => {
        this.#answers.add({ answer });
        this.#waited.add({}, waitedMs / 1_000);
      }),
      runtime.on('server.state', ({ server, from, to }) => {
        if (from === 'waiting' && to === 'connecting') this.#reconnects.add({ server });
      }),
      runtime.on('server.failed', ({ server }) => this.#failures.add({ server })),
      runtime.on('server.recovered', ({ server }) => this.#recoveries.add({ server })),
      runtime.on('listener.failed', ({ event }) => this.#listeners.add({ event })),
    ];
  }

  families(): Family[] {
    return [
      this.#errors,
      this.#decisions,
      this.#answers,
      this.#waited,
      this.#reconnects,
      this.#failures,
      this.#recoveries,
      this.#listeners,
    ];
  }
}
