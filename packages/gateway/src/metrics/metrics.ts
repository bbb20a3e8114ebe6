/**
 * Prometheus metrics, collected from events of the runtime and formatted on each scrape. The number of label values is
 * limited, whatever servers and callers send.
 */
import type { CallLog } from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';
import { monotonicNow } from 'turnbuckle/host';
import { CallMetrics } from './call-metrics.js';
import { Counter } from './counter.js';
import { EnergyMetrics } from './energy-metrics.js';
import { type Family, renderFamilies } from './exposition.js';
import { type ListMetricsOptions, watchLists } from './list-metrics.js';
import { logFamilies } from './log-metrics.js';
import { watchProcess } from './process-metrics.js';
import { serverFamilies } from './server-metrics.js';

type Watched = Pick<Runtime, 'on' | 'status' | 'approvals' | 'catalog'>;

export interface MetricsOptions {
  readonly log?: Pick<CallLog, 'counts' | 'waitingBytes' | 'isUp'> | undefined;
  /** How often the list for a caller was cached. */
  readonly listCacheCounts?: ListMetricsOptions['listCacheCounts'];
  /** The runtime's clock for durations. */
  readonly now?: ListMetricsOptions['now'] | undefined;
  /** How many tools get their own series (2,000). */
  readonly maxTools?: number | undefined;
}

export interface Metrics {
  /** All metrics in the Prometheus text format; see CONTENT_TYPE. */
  text(): string;
  /** Adds a counter of the host. */
  counter(name: string, help: string): Counter;
  /** Adds a gauge of the host that is read on each scrape. */
  gauge(name: string, help: string, read: () => number): void;
  /** Also counts the calls of this runtime, as those of one server of that name. */
  countCalls(runtime: Pick<Runtime, 'on'>, server: string): void;
  close(): void;
}

const MAX_TOOLS = 2_000;

/** Counts from now on, until it is closed. */
export function createMetrics(
  runtime: Watched,
  { log, listCacheCounts, now = monotonicNow, maxTools = MAX_TOOLS }: MetricsOptions = {},
): Metrics {
  const calls = new CallMetrics(maxTools);
  const eventCounters = new EventCounters();
  const energy = new EnergyMetrics();
  const ofProcess = watchProcess();
  const ofServers = serverFamilies(runtime);
  const ofLists = watchLists(runtime, { listCacheCounts, now });
  const own: Family[] = [];
  const stops = [
    runtime.on('call.settled', (event) => calls.record(event)),
    ...eventCounters.listen(runtime),
    ...energy.listen(runtime),
  ];
  const inFlight: Family = {
    name: 'turnbuckle_calls_in_flight',
    type: 'gauge',
    help: 'Calls in progress, including calls that are waiting for approval or in a queue.',
    samples: () => [{ labels: '', value: eventCounters.inFlight }],
  };
  const pending = pendingApprovals(runtime);
  const ofLog = log === undefined ? [] : logFamilies(log);
  return {
    text: () =>
      renderFamilies([
        ...calls.families(),
        ...eventCounters.families(),
        ...energy.families(),
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
        ...eventCounters.listenToCalls(other),
        ...energy.listen(other, server),
      );
    },
    close: () => {
      for (const stop of stops) stop();
      ofLists.close();
      ofProcess.close();
    },
  };
}

const pendingApprovals = (runtime: Watched): Family => ({
  name: 'turnbuckle_approvals_pending',
  type: 'gauge',
  help: 'Calls waiting for approval.',
  samples: () => [{ labels: '', value: runtime.approvals.pending().length }],
});

/** Counters of events other than calls. */
class EventCounters {
  readonly #errors = new Counter('turnbuckle_call_errors_total', 'Calls without a result, by error code.');
  readonly #decisions = new Counter('turnbuckle_decisions_total', 'Policy decisions about calls.');
  readonly #answers = new Counter('turnbuckle_approvals_total', 'Answers to approval requests.');
  readonly #waited = new Counter(
    'turnbuckle_approval_wait_seconds_total',
    'Time that calls waited for approval, in seconds.',
  );
  readonly #reconnects = new Counter('turnbuckle_server_reconnects_total', 'Reconnection attempts.');
  readonly #failures = new Counter('turnbuckle_server_failures_total', 'Number of times the server failed.');
  readonly #recoveries = new Counter(
    'turnbuckle_server_recoveries_total',
    'Number of times the server recovered from a failure.',
  );
  readonly #listeners = new Counter(
    'turnbuckle_listener_failures_total',
    'Event listeners that threw an error, by event.',
  );

  readonly #inFlightIds = new Set<string>();

  get inFlight(): number {
    return this.#inFlightIds.size;
  }

  listenToCalls(runtime: Pick<Runtime, 'on'>): (() => void)[] {
    return [
      runtime.on('call.started', ({ requestId }) => void this.#inFlightIds.add(requestId)),
      runtime.on('call.settled', ({ requestId, error }) => {
        this.#inFlightIds.delete(requestId);
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
