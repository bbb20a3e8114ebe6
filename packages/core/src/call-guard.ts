/**
 * The step "decide" of a call: the rules, pins and approvals in effect, and the one place that puts them
 * together. Throws when a call may not be made, waits when somebody has to be asked.
 */

import { randomUUID } from 'node:crypto';
import { changedMeanwhile, denied } from './call-errors.js';
import type { CancelSignal } from './cancel-signal.js';
import type { Catalog } from './catalog/catalog.js';
import { NATIVE_SERVER } from './catalog/native.js';
import type { CatalogTool } from './catalog/tool.js';
import type { FlowMode, PlacedRule, Rule } from './config/rule-schema.js';
import type { Label, ServerConfig } from './config/schema.js';
import type { TurnbuckleError } from './errors.js';
import type { CallKind, Events } from './events.js';
import { isRecord } from './is-record.js';
import type { Redactor } from './observe/redact.js';
import { PinStore } from './pin-store.js';
import { Pins } from './pins.js';
import type { ApprovalAnswer } from './policy/approval-request.js';
import { Approvals, type Question } from './policy/approvals.js';
import { agentOf, type Caller, identityOf } from './policy/capabilities.js';
import {
  type Action,
  type Decision,
  decide,
  mayKnow,
  type PolicyOptions,
  type Subject,
} from './policy/decide.js';
import { type Explanation, explain } from './policy/explain.js';
import { Flows } from './policy/flows.js';
import { escapeGlob } from './policy/glob.js';
import { labelsOf } from './policy/labels.js';
import { RuleSet, type RuleSubject, type SecretSearch } from './policy/rules.js';
import type { RuntimeOptions } from './runtime-options.js';

/** What is asked for, once it is known what it is. */
/** What was decided about a call at last, noted by the guard on the call itself. */
export interface Verdict {
  decision: Decision['action'] | undefined;
  reason: string | undefined;
  /** An `ask` that needed nobody: it was answered for the session. */
  remembered: boolean;
}

export interface GuardedCall {
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  /** Absent for what has no definition: resources and prompts. */
  readonly definition: CatalogTool | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What else goes to the server with them. */
  readonly beside: readonly unknown[] | undefined;
  readonly caller: Caller | undefined;
  /** A person has approved what this belongs to. */
  readonly isApproved?: boolean | undefined;
  readonly signal: CancelSignal | undefined;
  /** What to say when the caller may not know that it exists. */
  readonly unknown: () => TurnbuckleError;
  readonly verdict: Verdict;
}

type Told = Pick<GuardedCall, 'requestId' | 'kind' | 'server' | 'tool' | 'caller' | 'verdict'>;

/** A call that is not made: what would be decided about it? */
export interface DecisionRequest {
  readonly server: string;
  readonly tool: string;
  readonly kind?: CallKind | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly caller?: Caller | undefined;
}

export interface CallGuardOptions {
  readonly catalog: Catalog;
  readonly events: Events;
  readonly now: () => number;
  readonly stateDir: string;
  readonly serverConfig: (name: string) => ServerConfig | undefined;
  /** Takes secrets out of what a person is shown, and knows them in what an agent sends. */
  readonly redactor: Pick<Redactor, 'knows' | 'value'>;
  readonly settings: RuntimeOptions;
}

/** What holds beside the rules. */
export interface PolicySettings {
  readonly defaultDecision: Action | undefined;
  /** Absent: as before. */
  readonly flows?: FlowMode | undefined;
}

const APPROVAL_MS = 120_000;
/** Rules that stand above what "always" can write. */
const ABOVE_ALWAYS: ReadonlySet<string> = new Set(['managed', 'options', 'flags', 'environment']);

export class CallGuard {
  readonly approvals: Approvals;
  readonly pins: Pins;
  readonly policy: PolicyOptions;
  readonly #options: CallGuardOptions;
  readonly #told = new Set<string>();
  #placed: readonly PlacedRule[] = [];
  #rules: RuleSet | undefined;
  /** Those of views, by the list that the view has. */
  readonly #limitRules = new WeakMap<readonly PlacedRule[], RuleSet>();
  readonly #secrets: SecretSearch;
  readonly #flows: Flows;
  #defaultDecision: Action | undefined;

  constructor(options: CallGuardOptions) {
    const { events, now, settings, catalog } = options;
    this.#options = options;
    this.#defaultDecision = settings.defaultDecision;
    const { knows, value } = options.redactor;
    this.#secrets = { knows, finds: (given) => value(given) !== given || knows(given) };
    this.#flows = new Flows(settings.flows ?? 'ask', (subject) => this.#labelsOf(subject));
    this.approvals = new Approvals({
      approve: settings.approve,
      queue: settings.approvals === 'queue',
      hint: settings.approvalHint,
      timeoutMs: settings.approvalTimeoutMs ?? APPROVAL_MS,
      now,
      createId: randomUUID,
      events,
    });
    this.pins = new Pins({
      mode: settings.pins ?? 'approved',
      store: new PinStore(options.stateDir),
      events,
      now,
      findTool: (server, tool) => catalog.find(server, tool),
      toolsOf: (server) => catalog.listByServer(server),
    });
    this.policy = this.#createPolicy();
  }

  /** Takes over other rules, and what holds beside them if it is given, for the next call on. */
  setRules(rules: readonly PlacedRule[], more?: PolicySettings): void {
    this.#placed = rules;
    this.#rules = rules.length === 0 ? undefined : new RuleSet(rules, this.#secrets);
    if (more === undefined) return;
    this.#defaultDecision = more.defaultDecision;
    this.#flows.mode = more.flows ?? this.#flows.mode;
  }

  /** The rules in effect, in the order in which they are asked. */
  get rules(): readonly PlacedRule[] {
    return this.#placed;
  }

  /** Throws when denied; a promise when somebody has to be asked; nothing when allowed. */
  check(call: GuardedCall): Promise<void> | undefined {
    const decision = this.#decide(call);
    const memory = decision.action === 'ask' ? this.#memoryOf(call, decision) : '';
    const remembered =
      decision.action === 'ask' && (call.isApproved === true || this.approvals.remembers(memory));
    this.#tell(call, decision, remembered);
    if (decision.action === 'allow' || remembered) return this.#letThrough(call);
    if (decision.hidden) throw call.unknown();
    if (decision.action === 'deny') throw denied(call.toolName, decision.reason);
    return this.#ask(call, decision, memory);
  }

  /** Whether a caller may know of a resource or prompt. */
  offers(caller: Caller, item: Pick<GuardedCall, 'kind' | 'server' | 'tool'>): boolean {
    return mayKnow(caller, { ...item, hints: undefined }, this.policy).action !== 'deny';
  }

  /** Whether the caller may know of something whose definition is not there yet; told when it may not. */
  mayKnow(call: Omit<Told, 'caller'>, caller: Caller): boolean {
    const decision = mayKnow(caller, { ...call, hints: 'unknown' }, this.policy);
    if (decision.action !== 'deny') return true;
    this.#tell({ ...call, caller }, decision, false);
    return false;
  }

  /** The tools that a caller may see: the same answer that a call would get. */
  visibleTo(caller: Caller, tools: readonly CatalogTool[]): readonly CatalogTool[] {
    return tools.filter((tool) => mayKnow(caller, toSubject(tool), this.policy).action !== 'deny');
  }

  /** What would be decided, without a call, an event or a question. */
  preview({ caller, ...request }: DecisionRequest): Decision {
    return decide(caller, this.#subjectOf(request), this.#policyFor(request));
  }

  /** The same, with the rules that were looked at on the way. */
  explain({ caller, ...request }: DecisionRequest): Explanation {
    const subject = this.#subjectOf(request);
    const explanation = explain(caller, subject, this.#policyFor(request));
    const isHeld = subject.hints === 'unknown' && this.pins.holds(request.server, request.tool);
    const unsure = explanation.unsure || (isHeld && explanation.decision.action !== 'deny');
    return { ...explanation, unsure, labels: this.#labelsOf(subject) };
  }

  close(): Promise<unknown> {
    this.approvals.close();
    return this.pins.flush();
  }

  // --- inside ----------------------------------------------------------------------------------------

  #createPolicy(): PolicyOptions {
    const { catalog, serverConfig } = this.#options;
    const guard = this;
    const native = { trusted: true, requires: [], scope: 'native', open: true } as const;
    const nowhere = { trusted: false, requires: [] } as const;
    const faultOf = this.pins.faultOf.bind(this.pins);
    return {
      get defaultDecision() {
        return guard.#defaultDecision;
      },
      get rules() {
        return guard.#rules;
      },
      get pinFault() {
        return guard.pins.active ? faultOf : undefined;
      },
      limitRules: (rules) => this.#compileLimits(rules),
      flow: this.#flows.faultOf.bind(this.#flows),
      secrets: this.#secrets,
      known: {
        hasServer: (name) => serverConfig(name) !== undefined,
        hasTool: (server, tool) => catalog.find(server, tool) !== undefined,
      },
      serverPolicy: (name) => serverConfig(name) ?? (name === NATIVE_SERVER ? native : nowhere),
    };
  }

  #compileLimits(rules: readonly PlacedRule[]): RuleSet {
    const known = this.#limitRules.get(rules);
    if (known !== undefined) return known;
    const compiled = new RuleSet(rules, this.#secrets);
    this.#limitRules.set(rules, compiled);
    return compiled;
  }

  #decide(call: GuardedCall): Decision {
    return decide(call.caller, subjectOf(call), this.policy);
  }

  /** What it carries is in its run from now on. The host itself is no run. */
  #letThrough(call: GuardedCall): undefined {
    const agent = agentOf(call.caller);
    if (agent !== undefined) this.#flows.note(agent, subjectOf(call));
  }

  #labelsOf(subject: RuleSubject): readonly Label[] {
    return labelsOf(this.#options.serverConfig(subject.server), subject);
  }

  #subjectOf({ server, tool, kind = 'tool', arguments: args }: Omit<DecisionRequest, 'caller'>): Subject {
    const found = kind === 'tool' ? this.#options.catalog.find(server, tool) : undefined;
    if (found !== undefined) return toSubject(found, args);
    return { server, tool, kind, hints: 'unknown', arguments: args };
  }

  /** Of a tool that is asked about before its server was, it is taken for granted that it exists. */
  #policyFor({ server, tool }: Omit<DecisionRequest, 'caller'>): PolicyOptions {
    const { policy } = this;
    const hasTool = (ofServer: string, name: string): boolean =>
      (ofServer === server && name === tool) || policy.known.hasTool(ofServer, name);
    const { defaultDecision, rules, limitRules, pinFault, flow, secrets, serverPolicy } = policy;
    const known = { hasServer: policy.known.hasServer, hasTool };
    return { defaultDecision, rules, limitRules, pinFault, flow, secrets, serverPolicy, known };
  }

  async #ask(call: GuardedCall, decision: Decision, memory: string): Promise<void> {
    if (decision.pin !== undefined) {
      // Somebody may have approved it elsewhere.
      await this.pins.load();
      const again = this.#decide(call);
      if (again.action === 'allow') {
        this.#tell(call, again, false);
        return this.#letThrough(call);
      }
    }
    const answer = await this.approvals.ask(this.#toQuestion(call, decision, memory), call.signal);
    this.#assertSame(call);
    if (answer !== 'once') this.approvals.remember(memory);
    if (answer === 'always') await this.#keep(call, decision);
    // Others of its run may have been let through while this one waited.
    const now = decision.flow === true ? undefined : this.#decide(call);
    if (now?.flow === true) await this.check(call);
    else this.#letThrough(call);
  }

  #toQuestion(call: GuardedCall, decision: Decision, memory: string): Question {
    const { requestId, kind, server, tool, toolName, definition } = call;
    const caller = agentOf(call.caller);
    const change = decision.pin === 'changed' && definition && this.pins.changeOf(definition);
    const shown = this.#options.redactor.value(call.arguments);
    return {
      memory,
      requestId,
      kind,
      server,
      tool,
      toolName,
      ...(caller !== undefined && { callerId: caller.id, identity: identityOf(caller) }),
      arguments: isRecord(shown) ? shown : {},
      ...(definition?.annotations !== undefined && { annotations: { ...definition.annotations } }),
      trusted: this.policy.serverPolicy(server).trusted,
      reason: decision.reason,
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...(change && { change }),
      answers: answersFor(decision),
    };
  }

  /** An answer for the session holds for this caller, this definition, and this reason to ask. */
  #memoryOf(call: GuardedCall, decision: Decision): string {
    const { kind, server, tool, definition } = call;
    const { pin, flow, limit } = decision;
    const caller = agentOf(call.caller);
    const asking = [this.#askedBy(decision)?.rule ?? null, limit?.rule ?? null];
    const hash = definition === undefined ? null : this.pins.hashOf(definition);
    // What one run did is no matter of another.
    const run = flow === true ? [caller?.run ?? null] : null;
    const who = caller === undefined ? null : identityOf(caller);
    return JSON.stringify([who, kind, server, tool, hash, pin ?? null, asking, run]);
  }

  /** The ordinary rule that decided. */
  #askedBy({ rule }: Decision): PlacedRule | undefined {
    return rule === undefined || rule.from === 'view' ? undefined : this.#placed[rule.index];
  }

  /** What was approved is the definition that was shown, not what the server made of it meanwhile. */
  #assertSame({ definition, server, tool, toolName }: GuardedCall): void {
    if (definition === undefined || definition.native) return;
    const now = this.#options.catalog.find(server, tool);
    if (now === undefined || this.pins.hashOf(now) !== this.pins.hashOf(definition))
      throw changedMeanwhile(toolName);
  }

  /** A rule for the caller, and the definition that it holds for. What cannot be kept holds for the session. */
  async #keep(call: GuardedCall, decision: Decision): Promise<void> {
    const { definition, server, tool } = call;
    const { onAlways } = this.#options.settings;
    try {
      if (definition !== undefined) await this.pins.keep([definition], 'approval');
      if (decision.otherwise === 'allow' || onAlways === undefined) return;
      const asked = this.#askedBy(decision);
      await onAlways(this.#toRule(call, asked), asked);
    } catch (error) {
      this.#options.events.emit('approval.lost', { server, tool, error });
    }
  }

  #toRule({ server, tool, kind, ...call }: GuardedCall, asked: PlacedRule | undefined): Rule {
    const caller = agentOf(call.caller);
    const { scope } = this.policy.serverPolicy(server);
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

  #tell(
    { requestId, kind, server, tool, caller, verdict }: Told,
    decision: Decision,
    remembered: boolean,
  ): void {
    const { events } = this.#options;
    verdict.decision = decision.action;
    verdict.reason = decision.reason;
    verdict.remembered = remembered;
    if (caller !== undefined) this.#tellAmbiguity(caller, decision);
    if (!events.has('call.decided')) return;
    events.emit('call.decided', {
      requestId,
      server,
      tool,
      kind,
      callerId: agentOf(caller)?.id,
      decision: decision.action,
      reason: decision.reason,
      rule: decision.rule,
      remembered,
    });
  }

  /** Said once for each caller and word: somebody meant to grant something. */
  #tellAmbiguity(caller: Caller, { ambiguous }: Decision): void {
    if (ambiguous === undefined) return;
    const { word: capability, meanings } = ambiguous;
    const key = JSON.stringify([caller.id, capability]);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#options.events.emit('capability.ambiguous', { callerId: caller.id, capability, meanings });
  }
}

/** One function for each tool: objects with a function of their own each are dear to make. */
const flagReaders = new WeakMap<CatalogTool, () => CatalogTool['flags']>();

function flagsOf(tool: CatalogTool): () => CatalogTool['flags'] {
  const known = flagReaders.get(tool);
  if (known !== undefined) return known;
  const read = (): CatalogTool['flags'] => tool.flags;
  flagReaders.set(tool, read);
  return read;
}

const toSubject = (tool: CatalogTool, args?: Subject['arguments'], beside?: Subject['beside']): Subject => ({
  server: tool.server,
  tool: tool.tool,
  kind: 'tool',
  hints: tool.annotations,
  flags: flagsOf(tool),
  arguments: args,
  beside,
});

const subjectOf = ({ kind, server, tool, definition, arguments: args, beside }: GuardedCall): Subject =>
  definition === undefined
    ? { server, tool, kind, hints: undefined, arguments: args, beside }
    : toSubject(definition, args, beside);

function answersFor({ rule, otherwise, flow, limit }: Decision): readonly ApprovalAnswer[] {
  // A rule would ask again, and so would what the run did: "always" would have no effect, or undo the guard.
  const isUseless =
    flow === true ||
    limit !== undefined ||
    (rule !== undefined && otherwise !== 'allow' && ABOVE_ALWAYS.has(rule.from));
  return isUseless ? ['once', 'session', 'deny'] : ['once', 'session', 'always', 'deny'];
}
