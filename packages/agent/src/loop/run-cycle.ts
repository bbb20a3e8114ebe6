/** One cycle: poll the steward, deduct energy, look at the conversations, choose, and do it. */

import type { StepOutcome, StepRequest } from '@turnbuckle/model';
import { TurnbuckleError } from 'turnbuckle';
import { fromThousandths, rangeOf, toThousandths } from 'turnbuckle/light';
import type { Conversation } from '../conversations/conversation.js';
import type { History, Overview } from '../conversations/conversation-store.js';
import type { Consumption } from '../energy/ledger.js';
import { builtInTools } from './built-in-tools.js';
import { type CyclePlan, planCycle, type StepLimits } from './cycle.js';
import { interpretStep } from './interpret-step.js';
import type { LoopParts } from './loop-parts.js';
import { type ModelFailure, ModelFailures } from './model-failures.js';
import { toOfferedTools } from './offered-tools.js';
import { buildPrompt } from './prompt.js';
import { followUpOf, reviewPrompt } from './reflection.js';
import type { StewardWatch } from './steward-watch.js';
import { callerOf, type ToolCalls } from './tool-calls.js';

export interface CycleParts extends LoopParts {
  readonly watch: StewardWatch;
  readonly calls: ToolCalls;
}

/** What a cycle ended with: how long to wait before the next one, in milliseconds; undefined: until something happens. */
export interface CycleEnd {
  readonly plan: CyclePlan['kind'];
  readonly waitMs: number | undefined;
}

type Step = Extract<CyclePlan, { kind: 'step' }>;
type Review = Extract<CyclePlan, { kind: 'review' }>;

/** While the steward works, its energy is polled this often. */
const STEWARD_POLL_MS = 1_000;
const IDLE_POLL_MS = 5_000;

export class CycleRunner {
  readonly #parts: CycleParts;
  readonly #failures = new ModelFailures();
  #level = 0;
  #range: string | undefined;
  #selected: string | undefined;

  constructor(parts: CycleParts) {
    this.#parts = parts;
  }

  /** Why the model does not answer now. */
  get failure(): ModelFailure | undefined {
    const { last } = this.#failures;
    return last && { ...last, message: String(this.#parts.runtime.redact(last.message)) };
  }

  get level(): number {
    return this.#level;
  }

  async run(signal: AbortSignal): Promise<CycleEnd> {
    const { store, clock, config, model, watch } = this.#parts;
    this.#failures.follow(model());
    await watch.poll();
    await this.#deduct();
    await watch.regulate(this.#level);
    const overview = await store.run('overview');
    const now = clock.now();
    const pausedMs = this.#failures.pauseMs(now);
    if (pausedMs > 0) return this.#end('wait', pausedMs);
    const facts = { ...overview, now, level: this.#level, config: config() };
    const plan = planCycle({ ...facts, selected: this.#selected });
    this.#selected = undefined;
    if (plan.kind === 'wait')
      return this.#end('wait', plan.until === undefined ? undefined : plan.until - now);
    if (plan.kind === 'exhausted') await this.#refuse(plan.conversation);
    else if (plan.kind === 'review') await this.#review(plan, overview, signal);
    else await this.#step(plan, overview, signal);
    return this.#end(plan.kind, 0);
  }

  #end(plan: CyclePlan['kind'], waitMs: number | undefined): CycleEnd {
    const { watch } = this.#parts;
    if (!watch.isPresent || waitMs === 0) return { plan, waitMs };
    const pollMs = watch.hasWork || watch.isPaused ? STEWARD_POLL_MS : IDLE_POLL_MS;
    return { plan, waitMs: Math.min(waitMs ?? pollMs, pollMs) };
  }

  async #deduct(): Promise<void> {
    const { store, clock, config, publish } = this.#parts;
    const { regulator } = config();
    const { level } = await store.run('deduct', clock.now(), regulator);
    this.#level = fromThousandths(level);
    const range = rangeOf(this.#level, regulator);
    if (range === this.#range) return;
    if (range !== 'urgent') await store.run('endUrgency');
    this.#range = range;
    publish('agent.energy', { level: this.#level, range });
  }

  /** A fixed answer: the model would use more of a budget that is used up. */
  async #refuse({ id, budget }: Conversation): Promise<void> {
    const { store, clock, publish } = this.#parts;
    const text = `This conversation has used up its energy budget of ${fromThousandths(budget)}. Start a new one.`;
    await store.run('addReply', id, { kind: 'failure', code: 'BUDGET_EXCEEDED', text }, clock.now());
    publish('agent.conversation', { conversation: id });
  }

  async #step({ conversation, limits }: Step, overview: Overview, signal: AbortSignal): Promise<void> {
    const { store, runtime, config, clock, createId, publish, calls } = this.#parts;
    const { id } = conversation;
    const history = await store.run('history', id);
    if (history === undefined) return;
    const visible = limits.maxCalls === 0 ? [] : await runtime.visibleTools(callerOf(config(), id));
    const mcpTools = toOfferedTools(visible, runtime);
    const tools = [...builtInTools(limits.builtIn), ...mcpTools];
    const messages = buildPrompt(this.#promptFacts(history, overview, limits));
    const done = await this.#ask(conversation, { messages, tools, effort: limits.effort, signal });
    if (done === undefined) return;
    const step = interpretStep(done.outcome, {
      conversation: history.conversation,
      conversations: overview.conversations,
      limits,
      tools: new Set(mcpTools.map(({ name }) => name)),
      config: config(),
      now: clock.now(),
      createId,
    });
    const seen = history.messages.at(-1)?.number ?? 0;
    const after = await store.run('commitStep', { ...step, conversation: id, seen, energy: done.energy });
    // Committed first: a call that was made is always known after a crash.
    for (const call of step.calls) calls.start(id, call);
    if (after?.isEnded === true) calls.cancelWaiting(id);
    if (step.selected !== undefined) await this.#select(step.selected);
    publish('agent.conversation', { conversation: id });
  }

  async #select(conversation: string): Promise<void> {
    const found = await this.#parts.store.run('select', conversation);
    this.#selected = found?.isEnded === false ? conversation : undefined;
  }

  async #review({ conversation, limits }: Review, overview: Overview, signal: AbortSignal): Promise<void> {
    const { store, publish, clock } = this.#parts;
    const { id, used, budget } = conversation;
    const history = await store.run('history', id);
    if (history === undefined || used >= budget) {
      const energy = this.#consumption({ conversation: id, ms: 0 });
      return store.run('commitReview', id, undefined, energy);
    }
    const messages = reviewPrompt(buildPrompt(this.#promptFacts(history, overview, limits)));
    const request = { messages, tools: builtInTools(limits.builtIn), effort: limits.effort, signal };
    const done = await this.#ask(conversation, request);
    if (done === undefined) return;
    const followUp = followUpOf(done.outcome);
    await store.run('commitReview', id, followUp, { ...done.energy, at: clock.now() });
    if (followUp !== undefined) publish('agent.conversation', { conversation: id });
  }

  #promptFacts(history: History, { conversations }: Overview, limits: StepLimits) {
    const { config, clock } = this.#parts;
    const { full } = config().regulator;
    return { history, conversations, level: this.#level, full, now: clock.now(), limits };
  }

  /** The outcome with its energy; undefined if the model failed, whose energy is recorded here. */
  async #ask(
    conversation: Conversation,
    request: StepRequest,
  ): Promise<{ readonly outcome: StepOutcome; readonly energy: Consumption } | undefined> {
    const { store, clock, model, publish } = this.#parts;
    const { id } = conversation;
    const started = clock.now();
    try {
      const outcome = await model().step(request);
      this.#failures.reset();
      return { outcome, energy: this.#consumption({ conversation: id, ms: outcome.ms }) };
    } catch (error) {
      // The daemon stops: the step is repeated when it runs again.
      if (request.signal.aborted) return undefined;
      const failure = toFailure(error);
      const ms = Math.max(clock.now() - started, 0);
      await store.run('recordEnergy', [this.#consumption({ conversation: id, ms })]);
      const { code, message, hint } = failure;
      publish('agent.failed', { code, message, hint });
      if (!this.#failures.add(clock.now(), failure)) return undefined;
      await this.#giveUp(conversation, failure);
      return undefined;
    }
  }

  /** The user is told; a review is left out. */
  async #giveUp({ id, isEnded }: Conversation, { code, message, hint }: TurnbuckleError): Promise<void> {
    const { store, clock, publish } = this.#parts;
    if (isEnded)
      return store.run('commitReview', id, undefined, this.#consumption({ conversation: id, ms: 0 }));
    const text = hint === undefined ? message : `${message} ${hint}`;
    await store.run('addReply', id, { kind: 'failure', code, text }, clock.now());
    publish('agent.conversation', { conversation: id });
  }

  #consumption({ conversation, ms }: { readonly conversation: string; readonly ms: number }): Consumption {
    const { clock, config, createId } = this.#parts;
    const thousandths = toThousandths((ms / 1_000) * config().modelCostPerSecond);
    return { ref: `model:${createId()}`, source: 'model', thousandths, at: clock.now(), conversation };
  }
}

const toFailure = (error: unknown): TurnbuckleError =>
  error instanceof TurnbuckleError
    ? error
    : new TurnbuckleError('INTERNAL', `An agent step failed: ${String(error)}.`, {
        cause: error,
        hint: 'Please report this error.',
      });
