/**
 * Every consumption of energy is one row with a unique reference, so that nothing is counted twice, whatever is reported
 * again after a crash. Deducting is one transaction: the rows are marked, and the state of the regulator changes with them.
 */
import type { Row, WorkDatabase } from '@turnbuckle/store';
import { EnergyRegulator, type EnergyState, fromThousandths, type RegulatorSettings } from 'turnbuckle/light';

export const ENERGY_SOURCES = ['model', 'call', 'steward'] as const;
export type EnergySource = (typeof ENERGY_SOURCES)[number];

export interface Consumption {
  /** Unique: `model:<step>`, `call:<request id>`, `steward:<row>`. */
  readonly ref: string;
  readonly source: EnergySource;
  readonly thousandths: number;
  readonly at: number;
  /** Absent: it belongs to none. */
  readonly conversation?: string | undefined;
}

/** In thousandths. */
export interface EnergyTotals {
  readonly bySource: Readonly<Record<EnergySource, number>>;
  /** Recorded and not deducted yet. */
  readonly open: number;
  /** What the regulator has deducted. */
  readonly deducted: number;
}

/** Rows older than this are added up: their references are no longer known, and must not be reported again. */
const KEEP_MS = 7 * 24 * 3_600_000;

export class EnergyLedger {
  readonly #database: WorkDatabase;
  readonly #elapsed: () => number;
  /** The latest time that was counted, and what the other clock showed then. */
  #counted: { readonly time: number; readonly elapsed: number } | undefined;

  /** `elapsed`: milliseconds by a clock that nobody can set. */
  constructor(database: WorkDatabase, elapsed = () => performance.now()) {
    this.#database = database;
    this.#elapsed = elapsed;
  }

  /** False if it was recorded before. To be called in a transaction, with what caused the consumption. */
  record({ ref, source, thousandths, at, conversation }: Consumption): boolean {
    if (!Number.isSafeInteger(thousandths) || thousandths < 0)
      throw new Error(`Invalid amount of energy: ${thousandths}.`);
    const added = this.#database
      .prepare(
        `INSERT INTO agent_energy (ref, source, conversation, amount, at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (ref) DO NOTHING RETURNING ref`,
      )
      .all(ref, source, conversation ?? null, thousandths, Math.floor(at));
    return added.length > 0;
  }

  /** Deducts everything that was recorded since the last time; returns the state of the regulator. */
  deduct(now: number, settings: RegulatorSettings): EnergyState {
    return this.#database.transaction(() => {
      const open = sumOf(
        this.#database.prepare('SELECT sum(amount) AS sum FROM agent_energy WHERE deducted = 0').all(),
      );
      this.#database.exec('UPDATE agent_energy SET deducted = 1 WHERE deducted = 0');
      const time = this.#timeAt(now);
      const regulator = new EnergyRegulator(() => time, settings, this.state());
      regulator.consume(fromThousandths(open));
      const { level, at, deducted } = regulator.state;
      this.#database
        .prepare('INSERT OR REPLACE INTO agent_regulator (id, level, at, deducted) VALUES (1, ?, ?, ?)')
        .run(level, at, deducted);
      return { level, at, deducted };
    });
  }

  /** Time never goes back: while the clock of the machine is behind, it goes on by the other one. */
  #timeAt(now: number): number {
    const elapsed = this.#elapsed();
    const before = this.#counted ?? { time: this.state()?.at ?? now, elapsed };
    const time = now >= before.time ? now : before.time + (elapsed - before.elapsed);
    this.#counted = { time, elapsed };
    return time;
  }

  /** Undefined before the first deduction: full. */
  state(): EnergyState | undefined {
    const [row] = this.#database.prepare('SELECT level, at, deducted FROM agent_regulator').all();
    return row && { level: Number(row.level), at: Number(row.at), deducted: Number(row.deducted) };
  }

  totals(): EnergyTotals {
    const rows = this.#database
      .prepare(
        `SELECT source, sum(amount) AS sum FROM
           (SELECT source, amount FROM agent_energy UNION ALL SELECT source, amount FROM agent_energy_past)
         GROUP BY source`,
      )
      .all();
    const of = (source: EnergySource): number => sumOf(rows.filter((row) => row.source === source));
    const open = this.#database
      .prepare('SELECT sum(amount) AS sum FROM agent_energy WHERE deducted = 0')
      .all();
    return {
      bySource: { model: of('model'), call: of('call'), steward: of('steward') },
      open: sumOf(open),
      deducted: this.state()?.deducted ?? 0,
    };
  }

  /** Adds up old rows: their sums stay exact. To be called in a transaction. Returns the time from which rows are kept. */
  compact(now: number): number {
    const before = Math.floor(now - KEEP_MS);
    const rows = this.#database
      .prepare(
        'SELECT source, sum(amount) AS sum FROM agent_energy WHERE deducted = 1 AND at < ? GROUP BY source',
      )
      .all(before);
    for (const { source, sum } of rows)
      this.#database
        .prepare(
          `INSERT INTO agent_energy_past (source, amount) VALUES (?, ?)
           ON CONFLICT (source) DO UPDATE SET amount = amount + excluded.amount`,
        )
        .run(String(source), Number(sum));
    this.#database.prepare('DELETE FROM agent_energy WHERE deducted = 1 AND at < ?').run(before);
    return before;
  }
}

const sumOf = ([row]: readonly Row[]): number => Number(row?.sum ?? 0);
