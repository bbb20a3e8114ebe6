/** Process metrics: CPU time, memory and event loop delay. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Family, Sample } from './exposition.js';

const RESOLUTION_MS = 20;
const QUANTILES = [0.5, 0.99, 1];

export interface ProcessMetrics {
  families(): Family[];
  close(): void;
}

/** Monitors the event loop from now on. */
export function watchProcess(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const startedAt = Date.now() / 1_000 - process.uptime();
  const gauge = (name: string, help: string, read: () => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: () => [{ labels: '', value: read() }],
  });
  const cpu: Family = {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'User and system CPU time used, in seconds.',
    samples: () => {
      const { user, system } = process.cpuUsage();
      return [{ labels: '', value: (user + system) / 1e6 }];
    },
  };
  const lateness: Family = {
    name: 'turnbuckle_event_loop_delay_seconds',
    type: 'gauge',
    help: 'Event loop delay since the last scrape, in seconds.',
    samples: () => {
      const samples = QUANTILES.map((quantile): Sample => {
        const nanoseconds = delay.count === 0 ? 0 : delay.percentile(quantile * 100);
        // Minus the resolution of the timer that measures it.
        const seconds = Math.max(nanoseconds / 1e9 - RESOLUTION_MS / 1_000, 0);
        return { labels: `quantile="${quantile}"`, value: seconds };
      });
      delay.reset();
      return samples;
    },
  };
  return {
    families: () => [
      cpu,
      gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss()),
      gauge(
        'process_start_time_seconds',
        'Start time of the process, in seconds since 1970.',
        () => startedAt,
      ),
      // Not from process.memoryUsage(), which needs a file descriptor.
      gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => getHeapStatistics().used_heap_size),
      lateness,
    ],
    close: () => delay.disable(),
  };
}
