/** What a request consists of: steps that run one after the other, each recorded when it has finished. */
import type { InstallApproval, InstallQuestion } from '../queue/install-approvals.js';
import type { NewMessage } from '../queue/ledger.js';
import type { RequestKind, StewardRequest } from '../requests/request.js';

/** What every worker offers to steps. The module of the steps adds to it what they need. */
export interface StewardServices {
  readonly now: () => number;
  /** What the daemon gave the worker: data, no functions. */
  readonly settings: unknown;
  /** What the steps of other requests of a kind have found so far, of those that go on. */
  dataOfOthers(kind: RequestKind): ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly approvals: {
    /** Asks once for each step: a step that runs again gets the same question, with its answer. */
    ask(question: Omit<InstallQuestion, 'requestId' | 'now'>): InstallApproval;
    /** Asks again after a yes that cannot be used. */
    askAgain(question: Omit<InstallQuestion, 'requestId' | 'now'>): void;
  };
}

export interface StepContext<Services extends StewardServices = StewardServices> {
  readonly request: StewardRequest;
  /** Results of the finished steps. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Aborted on cancel and pause. The step and its child processes have to end within a second, or the worker is ended. */
  readonly signal: AbortSignal;
  /** From 0 to 100, of this step. */
  progress(percent: number, message: string): void;
  readonly services: Services;
}

export interface StepResult {
  /** Merged into the results of the finished steps. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The worker is freed, and the step runs again when all its approvals are answered. */
  readonly waitFor?: 'approval' | undefined;
  /** The result of the request, which is complete: no other step runs. */
  readonly done?: unknown;
  /** Told to the agent, such as new tools. */
  readonly messages?: readonly NewMessage[] | undefined;
}

export interface Step<Services extends StewardServices = StewardServices> {
  /** Stored with a request: keep it when the code changes. */
  readonly name: string;
  /** Repeated if it was interrupted, at any point: it has to be idempotent, or to clean up what it left. */
  run(context: StepContext<Services>): Promise<StepResult>;
  /**
   * Takes back the step, whether it finished, was interrupted or did nothing yet; it may run more than once. Runs from the
   * last step that was started back to the first one. What it needs has to be in the data of a step before it.
   */
  undo?(context: StepContext<Services>): Promise<void>;
}

export type StepTable<Services extends StewardServices = StewardServices> = Readonly<
  Record<RequestKind, ReadonlyArray<Step<Services>>>
>;

/** What a module with steps exports. */
export interface StepModule {
  readonly steps: StepTable;
  /** Called once in each worker process; the approvals are bound to a request later. */
  createServices?(base: Omit<StewardServices, 'approvals' | 'dataOfOthers'>): Promise<object> | object;
}
