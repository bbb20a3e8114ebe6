/** The rules, pins and flows in effect, combined for decisions about calls. */
import type { Pins } from '../../approvals/pins.js';
import type { Catalog } from '../../catalog/catalog.js';
import { NATIVE_SERVER } from '../../catalog/native.js';
import type { CatalogTool } from '../../catalog/tool.js';
import type { FlowMode, PlacedRule } from '../../config/schema/rule-schema.js';
import type { Label, ServerConfig } from '../../config/schema/schema.js';
import type { BudgetFault, Spender } from '../../energy/budgets.js';
import type { Energy } from '../../energy/energy.js';
import type { EstimatedItem } from '../../energy/estimates.js';
import type { Caller } from '../../policy/capabilities.js';
import type { Action, PinFault, PolicyOptions, Subject } from '../../policy/decide.js';
import { type FlowRuns, Flows } from '../../policy/flows.js';
import { inlineLabelsOf, labelsOf } from '../../policy/labels.js';
import { RuleSet, type RuleSubject, type SecretSearch } from '../../policy/rules.js';

export interface EffectivePolicyOptions {
  readonly catalog: Catalog;
  readonly pins: Pins;
  readonly secrets: SecretSearch;
  readonly serverConfig: (name: string) => ServerConfig | undefined;
  /** What runs carried, shared by all runtimes that an agent's calls go through. */
  readonly runs: FlowRuns;
  readonly defaultDecision: Action | undefined;
  readonly flows: FlowMode | undefined;
  /** True: requests name the servers, not the configuration. */
  readonly isInline: boolean;
  readonly energy: Energy | undefined;
}

/** The settings besides the rules. */
export interface PolicySettings {
  readonly defaultDecision: Action | undefined;
  /** Absent: unchanged. */
  readonly flows?: FlowMode | undefined;
}

export class EffectivePolicy {
  /** For `decide` and related functions; always current. */
  readonly options: PolicyOptions;
  readonly serverConfig: EffectivePolicyOptions['serverConfig'];
  readonly #pins: Pins;
  readonly #secrets: SecretSearch;
  readonly #flows: Flows;
  readonly #isInline: boolean;
  /** The rules of views, by the view's list. */
  readonly #limitRules = new WeakMap<readonly PlacedRule[], RuleSet>();
  #placedRules: readonly PlacedRule[] = [];
  #rules: RuleSet | undefined;
  #defaultDecision: Action | undefined;
  #changes = 0;

  constructor(options: EffectivePolicyOptions) {
    this.serverConfig = options.serverConfig;
    this.#pins = options.pins;
    this.#secrets = options.secrets;
    this.#defaultDecision = options.defaultDecision;
    this.#isInline = options.isInline;
    this.#flows = new Flows(options.flows ?? 'ask', (subject) => this.labelsOf(subject), options.runs);
    this.options = this.#createOptions(options);
  }

  /** Replaces the rules, and the other settings if given, starting with the next call. */
  setRules(rules: readonly PlacedRule[], more?: PolicySettings): void {
    this.#changes += 1;
    this.#placedRules = rules;
    this.#rules = rules.length === 0 ? undefined : new RuleSet(rules, this.#secrets);
    if (more === undefined) return;
    this.#defaultDecision = more.defaultDecision;
    this.#flows.mode = more.flows ?? this.#flows.mode;
  }

  /** The rules in effect, in order of evaluation. */
  get rules(): readonly PlacedRule[] {
    return this.#placedRules;
  }

  /** Incremented when the rules or settings change; visibility can change only then. */
  get ruleVersion(): number {
    return this.#changes;
  }

  /** Changes whenever any input of a decision changes. The parts only increase. */
  get version(): number {
    return this.#changes + this.#pins.version + this.#flows.version;
  }

  /** Records what a call carries into its run. */
  recordFlow(agent: Caller, subject: Subject): void {
    this.#flows.record(agent, subject);
  }

  labelsOf(subject: RuleSubject): readonly Label[] {
    const config = this.serverConfig(subject.server);
    return this.#isInline ? inlineLabelsOf(config, subject) : labelsOf(config, subject);
  }

  #createOptions({ catalog, energy }: EffectivePolicyOptions): PolicyOptions {
    const { serverConfig } = this;
    const policy = this;
    const native = {
      trusted: true,
      requires: [],
      scope: 'native' as const,
      isPublic: (tool: string) => catalog.nativeTool(tool)?.public === true,
      capability: (tool: string) => catalog.nativeTool(tool)?.capability,
      isSafe: (tool: string) => catalog.nativeTool(tool)?.needsApproval === false,
      resourceTool: (tool: string) => catalog.nativeTool(tool)?.resourceTool,
    };
    const unknownServerPolicy = { trusted: false, requires: [] } as const;
    const faultOf = (subject: Subject): PinFault | undefined =>
      this.#pins.faultOf(subject, subject.definition as CatalogTool | undefined);
    const budgetFault = (caller: Caller, subject: Subject): BudgetFault | undefined =>
      subject.server === NATIVE_SERVER || subject.hasReservation === true
        ? undefined
        : energy?.faultOf(spenderOf(caller, subject.server), itemOf(subject));
    return {
      get budget() {
        return energy?.hasBudgets === true ? budgetFault : undefined;
      },
      get defaultDecision() {
        return policy.#defaultDecision;
      },
      get rules() {
        return policy.#rules;
      },
      get pinFault() {
        return policy.#pins.active ? faultOf : undefined;
      },
      limitRules: (rules) => this.#compileLimits(rules),
      flow: this.#flows.faultOf.bind(this.#flows),
      secrets: this.#secrets,
      known: { hasServer: (name) => name === NATIVE_SERVER || serverConfig(name) !== undefined },
      serverPolicy: (name) => serverConfig(name) ?? (name === NATIVE_SERVER ? native : unknownServerPolicy),
    };
  }

  #compileLimits(rules: readonly PlacedRule[]): RuleSet {
    const known = this.#limitRules.get(rules);
    if (known !== undefined) return known;
    const compiled = new RuleSet(rules, this.#secrets);
    this.#limitRules.set(rules, compiled);
    return compiled;
  }
}

/** Budgets are for names: a new token with the same name gets no new budget. */
export const spenderOf = ({ id, run }: Caller, server: string): Spender => ({ caller: id, run, server });

/** The definition of a tool has all that an estimate needs. */
export const itemOf = ({ server, tool, kind, definition }: EnergySubject): EstimatedItem =>
  kind === 'tool' && definition !== undefined ? (definition as CatalogTool) : { server, tool, kind };

type EnergySubject = Pick<Subject, 'server' | 'tool' | 'kind' | 'definition'>;
