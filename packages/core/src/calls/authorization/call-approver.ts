/** Asking a person about a call: what is shown, what the answer holds for, and what becomes of "always". */
import { createHash } from 'node:crypto';
import { changedMeanwhile } from './call-errors.js';
import { sentBeside, tellsMore, writeSent } from './call-sent.js';
import type { CatalogTool } from './catalog/tool.js';
import type { PlacedRule, Rule } from './config/rule-schema.js';
import type { AskedApproval, Events } from './events.js';
import type { GuardedCall } from './guarded-call.js';
import { isRecord } from './is-record.js';
import { withDigits, withExactNumbers } from './json/exact-number.js';
import type { NotShown } from './json/shortened.js';
import { inSlices } from './json/slices.js';
import type { Redactor } from './observe/redact.js';
import type { Permit } from './permit.js';
import type { Pins } from './pins.js';
import type { ApprovalAnswer } from './policy/approval-request.js';
import type { Approvals, Question, WholeCall } from './policy/approvals.js';
import { agentOf, identityOf } from './policy/capabilities.js';
import type { Decision, PolicyOptions } from './policy/decide.js';
import { escapeGlob } from './policy/glob.js';
import type { RuntimeOptions } from './runtime-options.js';

export interface CallQuestionsOptions {
  readonly approvals: Approvals;
  readonly pins: Pins;
  /** What the tool of a call is now. */
  readonly definitionNow: (call: GuardedCall) => CatalogTool | undefined;
  readonly events: Events;
  readonly now: () => number;
  readonly redactor: Pick<Redactor, 'shown' | 'large'>;
  readonly serverPolicy: PolicyOptions['serverPolicy'];
  /** The rules in effect. */
  readonly placed: () => readonly PlacedRule[];
  readonly onAlways: RuntimeOptions['onAlways'];
  /** How long an agent's call waits before it is told that it does. */
  readonly patienceMs: number | undefined;
  /** False: its servers are in no configuration, so that a rule for one of them would hold for nothing. */
  readonly offersAlways: boolean;
}

/** Characters of arguments: more nobody reads. */
const MAX_SHOWN = 32 * 1_024;
/** The same of what is sent beside them. */
const MAX_SHOWN_BESIDE = 8 * 1_024;

interface ShownCall extends Pick<AskedApproval, 'arguments'> {
  readonly alsoSent: AskedApproval['alsoSent'] | undefined;
  readonly notShown: NotShown;
}

/** Rules that stand above what "always" can write. */
const ABOVE_ALWAYS: ReadonlySet<string> = new Set(['managed', 'options', 'flags', 'environment']);

/** The same caller, tool, definition and reason, and the same is sent. */
const keyOf = (call: GuardedCall, memory: string): string =>
  createHash('sha256').update(memory).update(writeSent(call)).digest('base64url');

export class CallQuestions {
  readonly #options: CallQuestionsOptions;

  constructor(options: CallQuestionsOptions) {
    this.#options = options;
  }

  /** Whether nobody need be asked: somebody said yes to just this, for the session or for this call. */
  isAnswered(call: GuardedCall, decision: Decision): 'session' | 'call' | undefined {
    if (this.#options.approvals.remembers(this.#memoryOf(call, decision))) return 'session';
    const asked = this.#permitFor(call, decision);
    // The yes was to what the call sent: whatever else is told to the server now, nobody has seen.
    const isSeen = call.beside === undefined || !tellsMore(call.beside);
    if (call.permit !== undefined && isSeen && covers(call.permit, asked)) return 'session';
    return call.permits.some((permit) => covers(permit, asked)) ? 'call' : undefined;
  }

  /** Resolves when somebody said yes, which is noted on the call; rejects otherwise. */
  async ask(call: GuardedCall, decision: Decision): Promise<void> {
    const { approvals } = this.#options;
    // Now: what is asked about is what holds before somebody answers.
    const memory = this.#memoryOf(call, decision);
    const permit = this.#permitFor(call, decision);
    const rule = this.#askedBy(decision);
    const question = {
      ...this.#toQuestion(call, decision, memory),
      key: keyOf(call, memory),
      keep: () => this.#keep(call, decision, rule),
      whole: () => this.#wholeOf(call),
    };
    const patienceMs = this.#patienceFor(call);
    const answer = await approvals.ask(question, call.signal, { patienceMs, onAsked: call.onApproval });
    this.#assertSame(call);
    call.permits = [...call.permits, permit];
    call.onPermit?.(permit);
    if (answer !== 'once') approvals.remember(memory);
    if (answer === 'always') await this.#keep(call, decision, rule);
  }

  /** A program waits for its own calls, unless it says how long; an agent's client gives up after a while. */
  #patienceFor({ caller, approvalWaitMs }: GuardedCall): number | undefined {
    const usual = agentOf(caller) === undefined ? undefined : this.#options.patienceMs;
    if (usual === undefined || approvalWaitMs === undefined) return approvalWaitMs ?? usual;
    return Math.min(usual, approvalWaitMs);
  }

  #permitFor({ definition }: GuardedCall, decision: Decision): Permit {
    const rules = [this.#askedBy(decision)?.rule, decision.limit?.rule].filter((rule) => rule !== undefined);
    return {
      hash: definition === undefined ? null : this.#options.pins.hashOf(definition),
      asking: rules.map(markOf),
      pin: decision.pin,
      flow: decision.flow === true,
    };
  }

  #toQuestion(call: GuardedCall, decision: Decision, memory: string): Question {
    const { requestId, kind, server, tool, toolName, definition } = call;
    const caller = agentOf(call.caller);
    const change = decision.pin === 'changed' && definition && this.#options.pins.changeOf(definition);
    const { arguments: args, alsoSent, notShown } = this.#shownOf(call);
    const isCut = notShown.characters + notShown.members > 0;
    return {
      memory,
      requestId,
      kind,
      server,
      tool,
      toolName,
      ...(caller !== undefined && { callerId: caller.id, identity: identityOf(caller) }),
      arguments: args,
      ...(alsoSent !== undefined && { alsoSent }),
      ...(isCut && { isCut, notShown }),
      ...(definition?.annotations !== undefined && { annotations: { ...definition.annotations } }),
      trusted: this.#options.serverPolicy(server).trusted,
      reason: decision.reason,
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...(change && { change }),
      answers: answersFor(decision, { isCut, offersAlways: this.#options.offersAlways }),
    };
  }

  /** All that goes to the server, as far as a person can read it. */
  #shownOf({ exactly, beside }: GuardedCall): ShownCall {
    const { redactor } = this.#options;
    const args = redactor.shown(exactly, MAX_SHOWN);
    const sent = beside && sentBeside(beside);
    const also = sent && redactor.shown(withExactNumbers(sent), MAX_SHOWN_BESIDE);
    return {
      arguments: isRecord(args.value) ? args.value : {},
      alsoSent: isRecord(also?.value) ? also.value : undefined,
      notShown: {
        characters: args.notShown.characters + (also?.notShown.characters ?? 0),
        members: args.notShown.members + (also?.notShown.members ?? 0),
      },
    };
  }

  /** The same without an end; others get a turn in between. */
  async #wholeOf({ exactly, beside }: GuardedCall): Promise<WholeCall> {
    const { large } = this.#options.redactor;
    const whole = async (value: object): Promise<Readonly<Record<string, unknown>>> => {
      const clean = await large.value(await inSlices(withDigits(value)));
      return isRecord(clean) ? clean : {};
    };
    const sent = beside && sentBeside(beside);
    return {
      arguments: await whole(exactly),
      ...(sent !== undefined && { alsoSent: await whole(withExactNumbers(sent)) }),
    };
  }

  /** An answer for the session holds for this caller, this definition, and this reason to ask. */
  #memoryOf(call: GuardedCall, decision: Decision): string {
    const { kind, server, tool, definition } = call;
    const { pin, flow, limit } = decision;
    const caller = agentOf(call.caller);
    const asking = [this.#askedBy(decision)?.rule ?? null, limit?.rule ?? null];
    const hash = definition === undefined ? null : this.#options.pins.hashOf(definition);
    // What one run did is no matter of another.
    const run = flow === true ? [caller?.run ?? null] : null;
    const who = caller === undefined ? null : identityOf(caller);
    return JSON.stringify([who, kind, server, tool, hash, pin ?? null, asking, run]);
  }

  /** The ordinary rule that decided. */
  #askedBy({ rule }: Decision): PlacedRule | undefined {
    return rule === undefined || rule.from === 'view' ? undefined : this.#options.placed()[rule.index];
  }

  /** What was approved is the definition that was shown, not what the server made of it meanwhile. */
  #assertSame(call: GuardedCall): void {
    const { definition, toolName } = call;
    if (definition === undefined || definition.native) return;
    const now = this.#options.definitionNow(call);
    if (now === undefined || this.#options.pins.hashOf(now) !== this.#options.pins.hashOf(definition))
      throw changedMeanwhile(toolName);
  }

  /** A rule for the caller, and the definition that it holds for. What cannot be kept holds for the session. */
  async #keep(call: GuardedCall, decision: Decision, asked: PlacedRule | undefined): Promise<void> {
    const { definition, server, tool } = call;
    const { onAlways } = this.#options;
    try {
      if (definition !== undefined) await this.#options.pins.keep([definition], 'approval');
      if (decision.otherwise === 'allow' || onAlways === undefined) return;
      await onAlways(this.#toRule(call, asked), asked);
    } catch (error) {
      this.#options.events.emit('approval.lost', { server, tool, error });
    }
  }

  #toRule({ server, tool, kind, ...call }: GuardedCall, asked: PlacedRule | undefined): Rule {
    const caller = agentOf(call.caller);
    const { scope } = this.#options.serverPolicy(server);
    return {
      action: 'allow',
      server: escapeGlob(server),
      tool: escapeGlob(tool),
      ...(kind !== 'tool' && { kind }),
      ...(scope !== undefined && { scope }),
      caller: caller === undefined ? 'host' : escapeGlob(caller.id),
      // Where arguments led to the question, the answer is about such arguments.
      ...(asked?.rule.arguments !== undefined && { arguments: asked.rule.arguments }),
      ...(asked?.rule.secrets !== undefined && { secrets: asked.rule.secrets }),
      reason: `approved ${new Date(this.#options.now()).toISOString().slice(0, 10)}`,
    };
  }
}

/** Short, for permits are kept in ids; another one as soon as anything in the rule is different. */
const markOf = (rule: Rule): string =>
  createHash('sha256').update(JSON.stringify(rule)).digest('base64url').slice(0, 22);

/** A yes holds for the same reasons to ask and for fewer, never for another. */
const covers = (permit: Permit, asked: Permit): boolean =>
  permit.hash === asked.hash &&
  asked.asking.every((rule) => permit.asking.includes(rule)) &&
  (asked.pin === undefined || asked.pin === permit.pin) &&
  (!asked.flow || permit.flow);

interface Asking {
  readonly isCut: boolean;
  readonly offersAlways: boolean;
}

function answersFor(
  { rule, otherwise, flow, limit }: Decision,
  { isCut, offersAlways }: Asking,
): readonly ApprovalAnswer[] {
  // Who has not seen all of one call cannot speak for the next ones.
  if (isCut) return ['once', 'deny'];
  // A rule would ask again, and so would what the run did: "always" would have no effect, or undo the guard.
  const isUseless =
    !offersAlways ||
    flow === true ||
    limit !== undefined ||
    (rule !== undefined && otherwise !== 'allow' && ABOVE_ALWAYS.has(rule.from));
  return isUseless ? ['once', 'session', 'deny'] : ['once', 'session', 'always', 'deny'];
}
