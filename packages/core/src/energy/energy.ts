/** The energy of calls: what they will cost, what they did cost, and whether a budget allows them. */
import {
  type Budget,
  type BudgetFault,
  type BudgetStatus,
  EnergyBudgets,
  type LowBudget,
  type Reservation,
  type Spender,
} from './budgets.js';
import { type CallCosts, costOfCall, DEFAULT_CALL_COSTS } from './call-cost.js';
import { EnergyEstimates, type EstimatedItem } from './estimates.js';

export interface EnergyOptions {
  /** For each call, whatever its duration (0.1). */
  readonly costPerCall?: number | undefined;
  /** For each second of a call (2). */
  readonly costPerSecond?: number | undefined;
  readonly budgets?: readonly Budget[] | undefined;
  /** Replaces the estimate; undefined: the usual one. */
  readonly estimate?: ((item: EstimatedItem) => number | undefined) | undefined;
  /** Replaces the cost of a finished call; undefined: the usual one. */
  readonly meter?: ((call: FinishedCall) => number | undefined) | undefined;
}

export interface FinishedCall extends EstimatedItem {
  /** Without the time spent waiting for approval. */
  readonly durationMs: number;
  readonly outcome: 'ok' | 'tool-error' | 'failed';
}

/** What a call of an earlier process cost. */
export interface PastCost extends Pick<EstimatedItem, 'server' | 'tool' | 'kind'> {
  readonly energy: number;
}

/** What a caller of an earlier process spent. */
export interface PastSpending extends Spender {
  readonly energy: number;
  readonly agoMs: number;
}

/** A call that may use energy: reserved from its decision to its end. */
export interface EnergyUse {
  readonly item: EstimatedItem;
  readonly estimate: number;
  readonly reservation: Reservation | undefined;
}

export class Energy {
  readonly #estimates = new EnergyEstimates();
  readonly #budgets: EnergyBudgets;
  #options: EnergyOptions;
  #costs: CallCosts = DEFAULT_CALL_COSTS;
  #isConfigured = false;

  /** `now`: a clock that nobody can set. */
  constructor(now: () => number, options: EnergyOptions = {}, onLow?: (low: LowBudget) => void) {
    this.#budgets = new EnergyBudgets(now, onLow);
    this.#options = options;
    this.configure(options);
  }

  /** Changes costs and budgets, starting with the next call. Functions stay as they were given. */
  configure(options: EnergyOptions): void {
    const { costPerCall, costPerSecond, budgets = [] } = options;
    this.#isConfigured = Object.values(options).some((value) => value !== undefined);
    this.#costs = {
      perCall: costPerCall ?? DEFAULT_CALL_COSTS.perCall,
      perSecond: costPerSecond ?? DEFAULT_CALL_COSTS.perSecond,
    };
    this.#budgets.set(budgets);
  }

  /** Somebody has set costs or budgets: agents are told the estimates in their lists of tools. */
  get isConfigured(): boolean {
    return this.#isConfigured;
  }

  get hasBudgets(): boolean {
    return !this.#budgets.isEmpty;
  }

  /** What the next call probably costs. */
  estimate(item: EstimatedItem): number {
    return toCost(this.#options.estimate?.(item)) ?? this.#estimates.estimate(item, this.#costs);
  }

  /** How many calls the estimate is learned from. */
  sampleCount(item: EstimatedItem): number {
    return this.#estimates.sampleCount(item);
  }

  /** Why no budget allows the call; undefined if all do. */
  faultOf(spender: Spender, item: EstimatedItem): BudgetFault | undefined {
    return this.hasBudgets ? this.#budgets.faultOf(spender, this.estimate(item)) : undefined;
  }

  /** A call may be made from now on. Without a spender it is the host's, which has no budget. */
  begin(item: EstimatedItem, spender: Spender | undefined): EnergyUse {
    const estimate = this.estimate(item);
    const reservation =
      spender === undefined || !this.hasBudgets ? undefined : this.#budgets.reserve(spender, estimate);
    return { item, estimate, reservation };
  }

  /** Gives back what a call reserved that was not sent. */
  abandon({ reservation }: EnergyUse): void {
    if (reservation !== undefined) this.#budgets.settle(reservation, 0);
  }

  /** The cost of the call, which is learned and deducted. */
  end({ item, reservation }: EnergyUse, ended: Pick<FinishedCall, 'durationMs' | 'outcome'>): number {
    const { durationMs } = ended;
    const cost = toCost(this.#options.meter?.({ ...item, ...ended })) ?? costOfCall(durationMs, this.#costs);
    this.#estimates.record(item, cost);
    if (reservation !== undefined) this.#budgets.settle(reservation, cost);
    return cost;
  }

  /** Learns estimates from calls of earlier processes, the oldest first. */
  learn(calls: Iterable<PastCost>): void {
    for (const call of calls) this.#estimates.record(call, call.energy);
  }

  /** Deducts from budgets what was spent before this process started, the oldest first. Budgets that never refill start anew. */
  restoreBudgets(spending: Iterable<PastSpending>): void {
    for (const { energy, agoMs, ...spender } of spending) this.#budgets.recordPast(spender, energy, agoMs);
  }

  /** The longest time in which a budget refills; 0 if none does. */
  get longestPeriodMs(): number {
    return this.#budgets.longestPeriodMs;
  }

  budgets(): BudgetStatus[] {
    return this.#budgets.status();
  }
}

/** Functions of the host may return anything. */
const toCost = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
