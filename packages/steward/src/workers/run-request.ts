/** Runs the steps of one request, each recorded in one transaction; on a failure or cancel it undoes them in reverse. */
import { TurnbuckleError } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';
import type { EnergyEntry } from '../queue/ledger.js';
import type { RecordOutcome, RequestQueue } from '../queue/queue.js';
import type { ClaimedRequest } from '../queue/request-row.js';
import type { RequestError } from '../requests/request-status.js';
import type { ClaimWatch } from './claim-watch.js';
import { meter } from './meter.js';
import { ProgressReports } from './progress-reports.js';
import type { Step, StepContext, StepResult, StewardServices } from './step.js';
import { baseCost, durationCost } from './step-cost.js';
import { retryWhileBusy, settleSoon } from './waiting.js';

export interface RunOptions {
  readonly queue: RequestQueue;
  readonly watch: ClaimWatch;
  readonly steps: readonly Step[];
  readonly services: StewardServices;
}

/** `stuck`: a step did not end although it was interrupted. The worker process has to end, and the step with it. */
export type RunEnd = 'released' | 'stuck';

/** How long an interrupted step may take to end. */
const SETTLE_MS = 600;
const UNDO_MS = 30_000;
const MAX_PROGRESS = 99;

/** Resolves when the worker has nothing more to do with the request, for whatever reason. */
export async function runRequest(claimed: ClaimedRequest, options: RunOptions): Promise<RunEnd> {
  return new Run(claimed, options).run();
}

interface Report {
  readonly finishedSteps: number;
  readonly message: string;
}

type StepEnd = { readonly result: StepResult } | { readonly error: unknown } | { readonly isStuck: true };

class Run {
  readonly #claimed: ClaimedRequest;
  readonly #options: RunOptions;
  /** Of steps whose end is not recorded yet. */
  #energy: EnergyEntry[] = [];
  #data: Readonly<Record<string, unknown>>;
  readonly #reports = new ProgressReports<Report>((report) => this.#report(report));

  constructor(claimed: ClaimedRequest, options: RunOptions) {
    this.#claimed = claimed;
    this.#options = options;
    this.#data = claimed.data;
    this.#spend('base', baseCost(claimed.request.type));
  }

  async run(): Promise<RunEnd> {
    const { steps, watch } = this.#options;
    const { step, ending, claim } = this.#claimed;
    let index = step === undefined ? 0 : steps.findIndex(({ name }) => name === step);
    if (ending !== undefined) return this.#undoFrom(index === -1 ? steps.length - 1 : index);
    for (;;) {
      const current = steps[index];
      if (current === undefined) return this.#fail(unknownStep(claim.id, step), steps.length - 1);
      if (watch.interruption !== undefined) return this.#interrupted(index);
      const end = await this.#runStep(current, index);
      if ('isStuck' in end) return this.#giveUp();
      if ('error' in end) {
        if (watch.interruption !== undefined) return this.#interrupted(index);
        return this.#fail(toRequestError(end.error), index);
      }
      const next = await this.#finishStep(end.result, index);
      if (next === 'failed') return this.#undoFrom(index);
      if (next === 'ended') return 'released';
      index += 1;
    }
  }

  async #runStep(step: Step, index: number): Promise<StepEnd> {
    const { watch } = this.#options;
    const stopMeter = this.#meter(step.name);
    const context = this.#context(watch.stepSignal, index);
    const running = begin(() => step.run(context)).then(
      (result): StepEnd => ({ result }),
      (error: unknown): StepEnd => ({ error }),
    );
    const end = await settleSoon(running, watch.stepSignal, SETTLE_MS);
    this.#reports.clear();
    stopMeter();
    return end ?? { isStuck: true };
  }

  /** Records the end of a step: whether another one follows, the request has ended, or has to be undone. */
  async #finishStep(result: StepResult, index: number): Promise<'next' | 'ended' | 'failed'> {
    const { queue, steps } = this.#options;
    const { claim } = this.#claimed;
    const { data, messages } = result;
    const next = steps[index + 1];
    let outcome: RecordOutcome;
    try {
      outcome = await this.#record((recorded) => {
        if (result.waitFor !== undefined) return queue.park(claim, { ...recorded, data, messages });
        if (next === undefined || result.done !== undefined)
          return queue.complete(claim, { ...recorded, messages, result: result.done });
        const progress = Math.floor(((index + 1) * 100) / steps.length);
        const message = `Finished: ${steps[index]?.name}.`;
        return queue.recordStep(claim, { ...recorded, next: next.name, data, messages, progress, message });
      });
    } catch (error) {
      if (!(error instanceof TurnbuckleError)) throw error;
      // What it returned cannot be stored.
      const failure = toRequestError(error);
      const begun = await this.#record((recorded) => queue.beginUndo(claim, { ...recorded, error: failure }));
      return begun === 'lost' ? 'ended' : 'failed';
    }
    if (outcome === 'ending') return 'failed';
    this.#data = { ...this.#data, ...data };
    const isLast = next === undefined || result.done !== undefined || result.waitFor !== undefined;
    return outcome === 'lost' || isLast ? 'ended' : 'next';
  }

  async #interrupted(index: number): Promise<RunEnd> {
    const { interruption } = this.#options.watch;
    if (interruption === 'undo') return this.#undoFrom(index);
    if (interruption === 'halt') await this.#release();
    return 'released';
  }

  async #giveUp(): Promise<RunEnd> {
    if (this.#options.watch.interruption !== 'lost') await this.#release();
    return 'stuck';
  }

  async #release(): Promise<void> {
    await this.#record((recorded) => this.#options.queue.release(this.#claimed.claim, recorded));
  }

  async #fail(error: RequestError, index: number): Promise<RunEnd> {
    const { queue } = this.#options;
    // Stored before the first undo: after it the steps cannot go on, whoever has the request then.
    const outcome = await this.#record((recorded) =>
      queue.beginUndo(this.#claimed.claim, { ...recorded, error }),
    );
    return outcome === 'lost' ? 'released' : this.#undoFrom(index);
  }

  async #undoFrom(last: number): Promise<RunEnd> {
    const { steps, watch } = this.#options;
    const stopMeter = this.#meter('undo');
    const problems: string[] = [];
    for (let index = last; index >= 0; index -= 1) {
      const step = steps[index];
      if (step?.undo === undefined) continue;
      const problem = await this.#undoStep(step, index);
      if (watch.undoSignal.aborted) {
        stopMeter();
        if (watch.interruption !== 'lost') await this.#release();
        return problem === 'stuck' ? 'stuck' : 'released';
      }
      if (problem !== undefined) problems.push(`"${step.name}" (${problem})`);
    }
    stopMeter();
    await this.#finishUndo(problems);
    return 'released';
  }

  /** What went wrong, if something did. */
  async #undoStep(step: Step, index: number): Promise<string | undefined> {
    const { watch } = this.#options;
    const signal = AbortSignal.any([watch.undoSignal, AbortSignal.timeout(UNDO_MS)]);
    const context = this.#context(signal, index);
    const undoing = begin(async () => step.undo?.(context)).then(
      () => ({ problem: undefined }),
      (error: unknown) => ({ problem: toTurnbuckleError(error).message }),
    );
    const end = await settleSoon(undoing, signal, SETTLE_MS);
    this.#reports.clear();
    return end === undefined ? 'stuck' : end.problem;
  }

  async #finishUndo(problems: readonly string[]): Promise<void> {
    const { queue } = this.#options;
    const { claim } = this.#claimed;
    const { ending, error } = queue.check(claim);
    await this.#record((recorded) => {
      if (ending === 'cancel' && problems.length === 0) return queue.finishCancel(claim, recorded);
      return queue.fail(claim, { ...recorded, error: withProblems(error ?? CANCELLED, problems) });
    });
  }

  /** Stores what was spent along with it. */
  async #record(
    store: (recorded: { readonly now: number; readonly energy: readonly EnergyEntry[] }) => RecordOutcome,
  ): Promise<RecordOutcome> {
    const { services } = this.#options;
    const outcome = await retryWhileBusy(() => store({ now: services.now(), energy: this.#energy }));
    if (outcome === 'recorded') this.#energy = [];
    return outcome;
  }

  /** What takes long is charged while it runs: whoever regulates the steward by its energy sees it in time. */
  #meter(what: string): () => void {
    const { queue, services } = this.#options;
    let parts = 0;
    return meter((ms, isLast) => {
      this.#spend(isLast ? what : `${what}.${parts++}`, durationCost(ms));
      if (isLast) return;
      try {
        const outcome = queue.spend(this.#claimed.claim, { now: services.now(), energy: this.#energy });
        if (outcome === 'recorded') this.#energy = [];
      } catch {
        // Busy: it is recorded with the next part, or with the end of the step.
      }
    });
  }

  #spend(what: string, amount: number): void {
    const { id, attempt } = this.#claimed.claim;
    this.#energy.push({ ref: `${id}:${what}:${what === 'base' ? 0 : attempt}`, amount });
  }

  #context(signal: AbortSignal, index: number): StepContext {
    const { request } = this.#claimed;
    return {
      request,
      data: this.#data,
      signal,
      services: this.#options.services,
      progress: (percent, message) =>
        this.#reports.add({ finishedSteps: index + Math.min(Math.max(0, percent), 100) / 100, message }),
    };
  }

  #report({ finishedSteps, message }: Report): void {
    const { queue, steps, services } = this.#options;
    const progress = Math.min(Math.floor((finishedSteps * 100) / steps.length), MAX_PROGRESS);
    try {
      queue.report(this.#claimed.claim, { progress, message, now: services.now() });
    } catch {
      // Busy: the next one will do.
    }
  }
}

/** What a step throws before it returns a promise counts as its rejection. */
const begin = async <T>(work: () => Promise<T>): Promise<T> => work();

function toRequestError(thrown: unknown): RequestError {
  const { code, message, hint } = toTurnbuckleError(thrown);
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

const CANCELLED: RequestError = { code: 'CALL_CANCELLED', message: 'Cancelled.' };

function withProblems(error: RequestError, problems: readonly string[]): RequestError {
  if (problems.length === 0) return error;
  return {
    ...error,
    message: `${error.message} These steps could not be undone: ${problems.join(', ')}.`,
    hint: "Check the configuration and the server's install directory, and remove anything left behind.",
  };
}

const unknownStep = (id: string, step: string | undefined): RequestError => ({
  code: 'INTERNAL',
  message: `The request "${id}" cannot continue: this version of Turnbuckle has no step "${step ?? 'first'}".`,
  hint: 'Send the request again.',
});
