/**
 * Budgets: how much energy the calls of a run, of a caller or to a server may use. A budget with a period refills
 * continuously. What a call will probably cost is reserved while it runs, so that calls at the same time cannot all use
 * the same rest.
 */
import { compileGlob, type Glob } from '../text/glob.js';
import { fromThousandths, toThousandths } from './call-cost.js';

export const BUDGET_KINDS = ['run', 'caller', 'server'] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];

export interface Budget {
  /** What has a budget of its own: each run, each caller or each server. */
  readonly for: BudgetKind;
  /** Only calls of these callers count: a name, or a pattern with `*`. */
  readonly caller?: string | undefined;
  /** Only calls to these servers count. */
  readonly server?: string | undefined;
  /** The most energy that can be used, in units. */
  readonly limit: number;
  /** The time in which a used-up budget is full again. Absent: never. */
  readonly perSeconds?: number | undefined;
}

/** Who makes a call, and where it goes. */
export interface Spender {
  readonly caller: string;
  readonly run: string | undefined;
  readonly server: string;
}

export interface BudgetFault {
  readonly budget: Budget;
  /** The run, caller or server whose budget is used up. */
  readonly name: string;
  readonly left: number;
  readonly needed: number;
  /** When enough is left again; undefined: never. */
  readonly retryAfterMs: number | undefined;
}

export interface BudgetStatus {
  readonly budget: Budget;
  readonly name: string;
  readonly left: number;
  readonly reserved: number;
}

/** A budget that has little left. */
export interface LowBudget {
  readonly budget: Budget;
  readonly name: string;
  readonly left: number;
  /** When it is used up at the rate of the last calls; undefined: not soon. */
  readonly emptyInMs: number | undefined;
}

/** What a call has reserved; given back when it ends. */
export interface Reservation {
  readonly spender: Spender;
  readonly accounts: readonly Account[];
  /** In thousandths. */
  readonly amount: number;
}

/** In thousandths; the time in milliseconds. */
interface Account {
  readonly name: string;
  readonly budget: CompiledBudget;
  level: number;
  reserved: number;
  at: number;
  /** It was reported as low, and has not been half full since. */
  isLow: boolean;
  /** What was spent since it was created, or last half full, and when that was. */
  spent: number;
  since: number;
}

interface CompiledBudget {
  readonly budget: Budget;
  readonly limit: number;
  readonly fitsCaller: Glob | undefined;
  readonly fitsServer: Glob | undefined;
  readonly accounts: Map<string, Account>;
}

/** For each budget. Beyond it, an account that is full, or else the one unused for longest, is forgotten. */
const MAX_ACCOUNTS = 10_000;
const LOW_SHARE = 0.2;
const RECOVERED_SHARE = 0.5;

export class EnergyBudgets {
  readonly #now: () => number;
  readonly #onLow: ((low: LowBudget) => void) | undefined;
  #budgets: readonly CompiledBudget[] = [];

  /** `now`: a clock that nobody can set. */
  constructor(now: () => number, onLow?: (low: LowBudget) => void) {
    this.#now = now;
    this.#onLow = onLow;
  }

  get isEmpty(): boolean {
    return this.#budgets.length === 0;
  }

  /** Replaces the budgets. A budget that stays the same keeps what was spent; one that is there twice counts once. */
  set(budgets: readonly Budget[]): void {
    const before = new Map(this.#budgets.map((one) => [JSON.stringify(one.budget), one]));
    const distinct = new Map(budgets.map((budget) => [JSON.stringify(budget), budget]));
    this.#budgets = [...distinct].map(([key, budget]) => before.get(key) ?? compile(budget));
  }

  /** The first budget that has too little left for a call with this estimate. */
  faultOf(spender: Spender, estimate: number): BudgetFault | undefined {
    for (const compiled of this.#budgets) {
      const account = this.#accountOf(compiled, spender);
      if (account === undefined) continue;
      // A call that costs more than the whole budget may use all of a full one.
      const needed = Math.min(toThousandths(estimate), compiled.limit);
      const left = account.level - account.reserved;
      if (left < needed || left <= 0) return toFault(account, left, needed);
    }
    return undefined;
  }

  /** Reserves the estimate until the call is settled. */
  reserve(spender: Spender, estimate: number): Reservation | undefined {
    const accounts = this.#budgets.flatMap((compiled) => this.#accountOf(compiled, spender) ?? []);
    if (accounts.length === 0) return undefined;
    const amount = toThousandths(estimate);
    for (const account of accounts) account.reserved += amount;
    return { spender, accounts, amount };
  }

  /** Deducts what the call cost, and releases what it had reserved. */
  settle({ accounts, amount }: Reservation, cost: number): void {
    for (const account of accounts) {
      this.#refill(account);
      account.reserved -= amount;
      account.level -= toThousandths(cost);
      account.spent += toThousandths(cost);
      this.#reportIfLow(account);
    }
  }

  /** Deducts a call of an earlier process that ended this long ago. Call it for the oldest one first. */
  recordPast(spender: Spender, cost: number, agoMs: number): void {
    const at = this.#now() - Math.max(agoMs, 0);
    for (const compiled of this.#budgets) {
      if (compiled.budget.perSeconds === undefined) continue;
      const account = this.#accountOf(compiled, spender, at);
      if (account !== undefined) account.level -= toThousandths(cost);
    }
  }

  get longestPeriodMs(): number {
    return Math.max(0, ...this.#budgets.map(({ budget }) => (budget.perSeconds ?? 0) * 1_000));
  }

  /** All budgets that were used, with what is left. */
  status(): BudgetStatus[] {
    return this.#budgets.flatMap(({ budget, accounts }) =>
      [...accounts.values()].map((account) => {
        this.#refill(account);
        const { name, level, reserved } = account;
        return { budget, name, left: fromThousandths(level), reserved: fromThousandths(reserved) };
      }),
    );
  }

  /** As it is at this time: now, or that of a past call. */
  #accountOf(compiled: CompiledBudget, spender: Spender, at = this.#now()): Account | undefined {
    const { budget, fitsCaller, fitsServer, accounts } = compiled;
    if (fitsCaller?.(spender.caller) === false || fitsServer?.(spender.server) === false) return undefined;
    const key = keyOf(budget.for, spender);
    const known = accounts.get(key);
    if (known !== undefined) {
      // The one unused for longest comes first.
      accounts.delete(key);
      accounts.set(key, known);
      this.#refill(known, at);
      return known;
    }
    if (accounts.size >= MAX_ACCOUNTS) this.#forgetOne(accounts);
    const account = {
      name: nameOf(budget.for, spender),
      budget: compiled,
      level: compiled.limit,
      reserved: 0,
      at,
      isLow: false,
      spent: 0,
      since: at,
    };
    accounts.set(key, account);
    return account;
  }

  #refill(account: Account, at = this.#now()): void {
    const perMs = refillPerMs(account.budget);
    const gained = Math.floor((at - account.at) * perMs);
    if (gained <= 0) return;
    account.level = Math.min(account.level + gained, account.budget.limit);
    account.at += gained / perMs;
    if (account.level < account.budget.limit * RECOVERED_SHARE) return;
    account.isLow = false;
    account.spent = 0;
    account.since = at;
  }

  #reportIfLow(account: Account): void {
    const { budget: compiled, name, level, spent, since, isLow } = account;
    if (isLow || level >= compiled.limit * LOW_SHARE) return;
    account.isLow = true;
    const perMs = spent / Math.max(this.#now() - since, 1) - refillPerMs(compiled);
    const emptyInMs = perMs > 0 ? Math.max(Math.round(level / perMs), 0) : undefined;
    this.#onLow?.({ budget: compiled.budget, name, left: fromThousandths(level), emptyInMs });
  }

  #forgetOne(accounts: Map<string, Account>): void {
    const isUnused = (account: Account): boolean => {
      this.#refill(account);
      return account.level === account.budget.limit && account.reserved === 0;
    };
    const [oldest] = accounts.keys();
    // Looking through all of them for each new one would take long.
    const [key = oldest] = [...firstOf(accounts, 100)].find(([, account]) => isUnused(account)) ?? [];
    if (key !== undefined) accounts.delete(key);
  }
}

function* firstOf<Key, Value>(map: ReadonlyMap<Key, Value>, count: number): Generator<[Key, Value]> {
  let left = count;
  for (const entry of map) {
    if (left === 0) return;
    left -= 1;
    yield entry;
  }
}

function compile(budget: Budget): CompiledBudget {
  const { caller, server, limit } = budget;
  const toGlob = (pattern: string | undefined): Glob | undefined =>
    pattern === undefined ? undefined : compileGlob(pattern, { crossSlashes: true });
  return {
    budget,
    limit: toThousandths(limit),
    fitsCaller: toGlob(caller),
    fitsServer: toGlob(server),
    accounts: new Map(),
  };
}

/** Thousandths for each millisecond. */
const refillPerMs = ({ limit, budget: { perSeconds } }: CompiledBudget): number =>
  perSeconds === undefined ? 0 : limit / (perSeconds * 1_000);

const keyOf = (kind: BudgetKind, { caller, run, server }: Spender): string =>
  kind === 'server' ? server : kind === 'caller' ? caller : JSON.stringify([caller, run ?? null]);

const nameOf = (kind: BudgetKind, { caller, run, server }: Spender): string =>
  kind === 'server' ? server : kind === 'caller' ? caller : (run ?? caller);

function toFault({ name, budget: compiled }: Account, left: number, needed: number): BudgetFault {
  const perMs = refillPerMs(compiled);
  return {
    budget: compiled.budget,
    name,
    left: fromThousandths(left),
    needed: fromThousandths(needed),
    retryAfterMs: perMs === 0 ? undefined : Math.ceil((needed - left) / perMs),
  };
}
