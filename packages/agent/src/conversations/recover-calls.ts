/**
 * Calls that settled while the process died: the call log has them, and with them their energy. A call that is not in the
 * log did not settle, so nobody knows whether it took effect.
 */
import { LogReader, type Row } from '@turnbuckle/store';
import { toThousandths } from 'turnbuckle/light';
import type { Consumption } from '../energy/ledger.js';
import type { ConversationStore } from './conversation-store.js';
import { cut, MAX_OUTPUT_CHARACTERS } from './message.js';

export interface RecoverOptions {
  readonly caller: string;
  /** The directory of the call log. */
  readonly logDirectory: string;
  readonly now: number;
}

const PAGE = 1_000;
/** A call that settled was recorded well within this time. */
const MARGIN_MS = 10 * 60_000;

const INTERRUPTED =
  'The call was interrupted because the daemon stopped. It is not known whether it took effect: check before you call again.';

/** Before anything else is done with the database. The number of calls that were open. */
export async function recoverCalls(store: ConversationStore, options: RecoverOptions): Promise<number> {
  const open = store.openCalls();
  const deductedAt = store.energyState()?.at;
  if (deductedAt === undefined && open.length === 0) return 0;
  const since = Math.min(deductedAt ?? options.now, ...open.map(({ startedAt }) => startedAt)) - MARGIN_MS;
  const settled = await readLog(options, since);
  const openIds = new Set(open.map(({ id }) => id));
  const knownSince = store.energyKnownSince();
  const isNew = ({ id, started_at }: Row): boolean =>
    Number(started_at) >= knownSince || openIds.has(String(id));
  store.recordEnergy(settled.filter((row) => row.energy !== null && isNew(row)).map(toConsumption));
  const byId = new Map(settled.map((row) => [`${row.run} ${row.id}`, row]));
  for (const { id, conversation } of open) {
    const row = byId.get(`${conversation} ${id}`);
    const ok = row?.outcome === 'ok';
    const text = row === undefined ? INTERRUPTED : outputOf(row);
    store.settleCall({ id, ok, output: cut(text, MAX_OUTPUT_CHARACTERS), at: options.now });
  }
  return open.length;
}

async function readLog({ caller, logDirectory }: RecoverOptions, since: number): Promise<Row[]> {
  const reader = await LogReader.open(logDirectory);
  if (reader === undefined) return [];
  try {
    const rows: Row[] = [];
    for (let after = 0; ; ) {
      const page = reader.find({ caller, since: Math.floor(since), after, limit: PAGE });
      rows.push(...page);
      if (page.length < PAGE) return rows;
      after = Number(page.at(-1)?.number);
    }
  } finally {
    reader.close();
  }
}

const toConsumption = ({ id, run, energy, started_at }: Row): Consumption => ({
  ref: `call:${String(id)}`,
  source: 'call',
  thousandths: toThousandths(Number(energy)),
  at: Number(started_at),
  conversation: String(run),
});

/** The log keeps the beginning of the result, without secrets. */
const outputOf = ({ outcome, error, result }: Row): string =>
  outcome === 'ok' ? String(result ?? '') : `The call failed: ${String(error ?? 'no details')}`;
