/** Metrics of the call log: every record that it could not keep is counted. */
import type { CallLog } from '@turnbuckle/store';
import { type Family, labelText } from './exposition.js';

export function logFamilies(log: Pick<CallLog, 'counts' | 'waitingBytes' | 'isUp'>): Family[] {
  return [
    {
      name: 'turnbuckle_log_records_total',
      type: 'counter',
      help: 'Log records by outcome: kept, bare (stored without arguments and result), dropped (journal full) or refused (write failed).',
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
      help: 'Bytes in the journal that are not in the database yet.',
      samples: () => [{ labels: '', value: log.waitingBytes }],
    },
    {
      name: 'turnbuckle_log_up',
      type: 'gauge',
      help: 'Whether the database thread is running.',
      samples: () => [{ labels: '', value: log.isUp ? 1 : 0 }],
    },
  ];
}
