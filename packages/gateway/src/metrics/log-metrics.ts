/** How the log of calls is: nothing that it did not keep goes unseen. */
import type { InvocationLog } from '@turnbuckle/store';
import { type Family, labelText } from './exposition.js';

export function logFamilies(log: Pick<InvocationLog, 'counts' | 'waitingBytes' | 'isUp'>): Family[] {
  return [
    {
      name: 'turnbuckle_log_records_total',
      type: 'counter',
      help: 'Records of calls: kept, bare (kept without arguments and result), dropped (too much waited), refused (by the disk).',
      samples: () => {
        const { kept, bare, dropped, refused } = log.counts;
        return Object.entries({ kept: kept - bare, bare, dropped, refused }).map(([fate, value]) => ({
          labels: labelText({ fate }),
          value,
        }));
      },
    },
    {
      name: 'turnbuckle_log_waiting_bytes',
      type: 'gauge',
      help: 'What lies in the journal.',
      samples: () => [{ labels: '', value: log.waitingBytes }],
    },
    {
      name: 'turnbuckle_log_up',
      type: 'gauge',
      help: 'Whether the thread that fills the database lives.',
      samples: () => [{ labels: '', value: log.isUp ? 1 : 0 }],
    },
  ];
}
