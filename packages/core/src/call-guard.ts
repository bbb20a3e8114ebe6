/**
 * The step "decide" of a call: the rules, pins and approvals in effect, and the one place that puts them
 * together. Throws when a call may not be made, waits when somebody has to be asked.
 */

import { randomUUID } from 'node:crypto';
import { ArgumentSearch } from './argument-search.js';
import { denied, keepsChanging } from './call-errors.js';
import { CallQuestions } from './call-questions.js';
import type { Beside } from './call-request.js';
import type { Catalog } from './catalog/catalog.js';
import { NATIVE_SERVER } from './catalog/native.js';
import type { CatalogTool } from './catalog/tool.js';
import type { FlowMode, PlacedRule } from './config/rule-schema.js';
import type { Label, ServerConfig } from './config/schema.js';
import type { CallKind, Events } from './events.js';
import type { GuardedCall } from './guarded-call.js';
import { withExactNumbers } from './json/exact-number.js';
import type { Redactor } from './observe/redact.js';
import { PinStore } from './pin-store.js';
import { Pins } from './pins.js';
import { Approvals } from './policy/approvals.js';
import { agentOf, type Caller } from './policy/capabilities.js';
import {
  type Action,
  type Decision,
  decide,
  mayKnow,
  type PinFault,
  type PolicyOptions,
  type Subject,
  surelyKnows,
} from './policy/decide.js';
import { type Explanation, explain } from './policy/explain.js';
import { type FlowRuns, Flows } from './policy/flows.js';
import { labelsOf } from './policy/labels.js';
import { RuleSet, type RuleSubject } from './policy/rules.js';
import type { RuntimeOptions } from './runtime-options.js';

type Arguments = GuardedCall['arguments'];
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
  /** The tools that a server listed on the connection of this caller alone; undefined: it has none, or shares it. */
  readonly ownTools: (
    server: string,
    caller: Caller | undefined,
  ) => ReadonlyMap<string, CatalogTool> | undefined;
  /** Takes secrets out of what a person is shown, and knows them in what an agent sends. */
  readonly redactor: Pick<Redactor, 'knows' | 'finds' | 'shown' | 'large'>;
  readonly settings: RuntimeOptions;
  /** What runs have carried, for all runtimes that an agent's calls go through. */
  readonly runs: FlowRuns;
  /** Those of the runtime that this one stands beside: its people are asked. Absent: it has its own. */
  readonly approvals?: Approvals | undefined;
}

/** What holds beside the rules. */
export interface PolicySettings {
  readonly defaultDecision: Action | undefined;
  /** Absent: as before. */
  readonly flows?: FlowMode | undefined;
}

const APPROVAL_MS = 120_000;
/** So often a person is asked about one call, because what it is about became another meanwhile. */
const MOST_QUESTIONS = 3;

export class CallGuard {
  readonly approvals: Approvals;
  readonly pins: Pins;
  readonly policy: PolicyOptions;
  readonly #options: CallGuardOptions;
  readonly #told = new Set<string>();
  readonly #questions: CallQuestions;
  /** Incremented when the rules or settings change; what a caller may know can change only then. */
  version = 0;
  #placed: readonly PlacedRule[] = [];
  #rules: RuleSet | undefined;
  /** Those of views, by the list that the view has. */
  readonly #limitRules = new WeakMap<readonly PlacedRule[], RuleSet>();
  readonly #search: ArgumentSearch;
  readonly #flows: Flows;
  #defaultDecision: Action | undefined;

  constructor(options: CallGuardOptions) {
    const { events, now, settings, catalog } = options;
    this.#options = options;
    this.#defaultDecision = settings.defaultDecision;
    this.#search = new ArgumentSearch(options.redactor);
    this.#flows = new Flows(settings.flows ?? 'ask', (subject) => this.#labelsOf(subject), options.runs);
    this.approvals =
      options.approvals ??
      new Approvals({
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
    this.#questions = new CallQuestions({
      ...options,
      approvals: this.approvals,
      pins: this.pins,
      serverPolicy: this.policy.serverPolicy,
      definitionNow: (call) => this.#definitionNow(call),
      placed: () => this.#placed,
      onAlways: settings.onAlways,
      patienceMs: settings.approvalWaitMs,
      offersAlways: options.approvals === undefined,
    });
  }

  /** Takes over other rules, and what holds beside them if it is given, for the next call on. */
  setRules(rules: readonly PlacedRule[], more?: PolicySettings): void {
    this.version += 1;
    this.#placed = rules;
    this.#rules = rules.length === 0 ? undefined : new RuleSet(rules, this.#search.secrets);
    if (more === undefined) return;
    this.#defaultDecision = more.defaultDecision;
    this.#flows.mode = more.flows ?? this.#flows.mode;
  }

  /** The rules in effect, in the order in which they are asked. */
  get rules(): readonly PlacedRule[] {
    return this.#placed;
  }

  /**
   * The same arguments with every number as it is sent; a promise where they are large. Of who may not even know what
   * they are for, large ones stay as they are.
   */
  exactly(
    { arguments: args, beside }: Pick<GuardedCall, 'arguments' | 'beside'>,
    call: Pick<Told, 'kind' | 'server' | 'tool'>,
    caller: Caller | undefined,
  ): Promise<Arguments> | Arguments {
    const isKnown = (agent: Caller): boolean =>
      mayKnow(agent, { ...call, hints: 'unknown' }, this.policy).action !== 'deny';
    const isAbout = ({ rule }: PlacedRule): boolean => rule.secrets === true;
    return this.#search.exactly({
      arguments: args,
      beside,
      isWanted: () => caller === undefined || isKnown(caller),
      isAboutSecrets: () => this.#placed.some(isAbout) || caller?.limits?.rules?.some(isAbout) === true,
    });
  }

  /** Throws when denied; a promise when somebody has to be asked; nothing when allowed. */
  check(call: GuardedCall): Promise<void> | undefined {
    // What is asked about is what will be called: over a connection of the caller's own that may be another tool.
    if (call.definition !== undefined) call.definition = this.#definitionNow(call) ?? call.definition;
    const decision = this.#decideNow(call);
    const answered = decision.action === 'ask' ? this.#questions.isAnswered(call, decision) : undefined;
    this.#tell(call, decision, answered === 'session');
    return this.#follow(call, decision, answered !== undefined);
  }

  /**
   * Right before it is sent, and again before it is repeated: nothing, nearly always, when all that it was decided
   * by is as it was. Otherwise it is decided anew, about what its tool is now.
   */
  checkAgain(call: GuardedCall): Promise<void> | undefined {
    const now = this.#definitionNow(call);
    const isSame = now === call.definition && call.version === this.#versionNow;
    if (isSame && call.config === this.#options.serverConfig(call.server)) return undefined;
    if (now === undefined && call.definition !== undefined) throw call.unknown();
    call.definition = now;
    const decision = this.#decideNow(call);
    const answered = decision.action === 'ask' ? this.#questions.isAnswered(call, decision) : undefined;
    // What lets it through still is nothing new.
    if (decision.action !== 'allow' && answered === undefined) this.#tell(call, decision, false);
    return this.#follow(call, decision, answered !== undefined);
  }

  /**
   * What an agent answers in the middle of a call goes to the same server: throws when the call would not have been let
   * through with it. Nobody is asked about it, as nobody waits for a person here.
   */
  async checkAnswer(call: GuardedCall, answer: object): Promise<void> {
    const beside: Beside = [undefined, undefined, { answer }, undefined, undefined];
    await this.exactly({ arguments: {}, beside }, call, call.caller);
    const decideWith = (sent: GuardedCall): Decision => decide(sent.caller, subjectOf(sent), this.policy);
    const before = decideWith(call);
    const after = decideWith({ ...call, beside });
    const isAsBefore = after.action === before.action && after.reason === before.reason;
    if (after.action === 'allow' || (after.action === 'ask' && isAsBefore)) return;
    const decision: Decision = {
      ...after,
      action: 'deny',
      reason: `an answer was not sent: ${after.reason}`,
    };
    this.#tell(call, decision, false);
    throw denied(call, decision);
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

  /** Whether a caller may know of whatever the server has of this kind, unless something is said of it by name. */
  knowsServer({ kind, server }: Pick<GuardedCall, 'kind' | 'server'>, caller: Caller): boolean {
    return mayKnow(caller, { kind, server, tool: '', hints: 'unknown' }, this.policy).action !== 'deny';
  }

  /** The tools that a caller may see: the same answer that a call would get. */
  visibleTo(caller: Caller, tools: readonly CatalogTool[]): readonly CatalogTool[] {
    return tools.filter((tool) => this.shows(caller, tool));
  }

  /** Whether a caller may see the tool. */
  shows(caller: Caller, tool: CatalogTool): boolean {
    return mayKnow(caller, toSubject(tool), this.policy).action !== 'deny';
  }

  /** What would be decided, without a call, an event or a question. */
  preview({ caller, ...request }: DecisionRequest): Decision {
    return decide(caller, this.#subjectOf(request), this.policy);
  }

  /** Whether a caller may know of it, whether it is there now or not. */
  surelyKnows({ caller, ...request }: DecisionRequest): boolean {
    return caller === undefined || surelyKnows(caller, this.#subjectOf(request), this.policy);
  }

  /** The same, with the rules that were looked at on the way. */
  explain({ caller, ...request }: DecisionRequest): Explanation {
    const subject = this.#subjectOf(request);
    const explanation = explain(caller, subject, this.policy);
    const isHeld = subject.hints === 'unknown' && this.pins.holds(request.server, request.tool);
    const unsure = explanation.unsure || (isHeld && explanation.decision.action !== 'deny');
    return { ...explanation, unsure, labels: this.#labelsOf(subject) };
  }

  close(): Promise<unknown> {
    if (this.#options.approvals === undefined) this.approvals.close();
    return this.pins.flush();
  }

  // --- inside ----------------------------------------------------------------------------------------

  #createPolicy(): PolicyOptions {
    const { catalog, serverConfig } = this.#options;
    const guard = this;
    const native = {
      trusted: true,
      requires: [],
      scope: 'native' as const,
      isPublic: (tool: string) => catalog.nativeTool(tool)?.public === true,
    };
    const nowhere = { trusted: false, requires: [] } as const;
    const faultOf = (subject: Subject): PinFault | undefined =>
      this.pins.faultOf(subject, subject.definition as CatalogTool | undefined);
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
      secrets: this.#search.secrets,
      known: { hasServer: (name) => name === NATIVE_SERVER || serverConfig(name) !== undefined },
      serverPolicy: (name) => serverConfig(name) ?? (name === NATIVE_SERVER ? native : nowhere),
    };
  }

  #compileLimits(rules: readonly PlacedRule[]): RuleSet {
    const known = this.#limitRules.get(rules);
    if (known !== undefined) return known;
    const compiled = new RuleSet(rules, this.#search.secrets);
    this.#limitRules.set(rules, compiled);
    return compiled;
  }

  #decideNow(call: GuardedCall): Decision {
    call.version = this.#versionNow;
    call.config = this.#options.serverConfig(call.server);
    return decide(call.caller, subjectOf(call), this.policy);
  }

  /** Another one whenever anything was changed that a decision may depend on: none of these ever goes back. */
  get #versionNow(): number {
    return this.version + this.pins.version + this.#flows.version;
  }

  #definitionNow({ definition, caller }: GuardedCall): CatalogTool | undefined {
    if (definition === undefined) return undefined;
    const { catalog, ownTools } = this.#options;
    if (definition.native) return catalog.get(definition.name);
    const { server, tool } = definition;
    const known = catalog.find(server, tool);
    const own = ownTools(server, caller);
    if (own === undefined || known === undefined) return known;
    const listed = own.get(tool);
    const isSame = listed !== undefined && this.pins.hashOf(listed) === this.pins.hashOf(known);
    return isSame ? known : listed;
  }

  #follow(call: GuardedCall, decision: Decision, isAnswered: boolean): Promise<void> | undefined {
    if (decision.action === 'allow' || isAnswered) return this.#letThrough(call);
    if (decision.hidden) throw call.unknown();
    if (decision.action === 'deny') throw denied(call, decision);
    return this.#ask(call, decision);
  }

  async #ask(call: GuardedCall, decision: Decision): Promise<void> {
    if (call.permits.length >= MOST_QUESTIONS) throw keepsChanging(call.toolName);
    // Somebody may have approved it elsewhere.
    if (decision.pin !== undefined) await this.pins.load();
    const now = decision.pin === undefined ? decision : this.#decideNow(call);
    if (now.action !== 'ask') return this.check(call);
    await this.#questions.ask(call, now);
    // Whatever was changed while somebody was asked counts.
    call.version = Number.NaN;
    await this.checkAgain(call);
  }

  /** What it carries is in its run from now on. The host itself is no run. */
  #letThrough(call: GuardedCall): undefined {
    const agent = agentOf(call.caller);
    if (agent !== undefined) this.#flows.note(agent, subjectOf(call));
    call.version = this.#versionNow;
  }

  #labelsOf(subject: RuleSubject): readonly Label[] {
    return labelsOf(this.#options.serverConfig(subject.server), subject);
  }

  #subjectOf({ server, tool, kind = 'tool', arguments: given }: Omit<DecisionRequest, 'caller'>): Subject {
    const args = given && withExactNumbers(given);
    const found = kind === 'tool' ? this.#options.catalog.find(server, tool) : undefined;
    if (found !== undefined) return toSubject(found, args);
    return { server, tool, kind, hints: 'unknown', arguments: args };
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
  definition: tool,
});

const subjectOf = ({ kind, server, tool, definition, exactly: args, beside }: GuardedCall): Subject =>
  definition === undefined
    ? { server, tool, kind, hints: undefined, arguments: args, beside }
    : toSubject(definition, args, beside);
