/** Creates and connects the parts that decide about calls: rules, pins, approvals. */
import { randomUUID } from 'node:crypto';
import { Approvals } from '../approvals/approvals.js';
import { PinStore } from '../approvals/pin-store.js';
import { Pins } from '../approvals/pins.js';
import { ArgumentScanner } from '../calls/authorization/argument-scanner.js';
import type { FindCurrentDefinition } from '../calls/authorization/authorization.js';
import type { AuthorizationSettings } from '../calls/authorization/authorization-settings.js';
import { CallAuthorizer } from '../calls/authorization/authorize.js';
import { CallApprover } from '../calls/authorization/call-approver.js';
import { EffectivePolicy } from '../calls/authorization/effective-policy.js';
import { DecisionPreview } from '../calls/authorization/preview.js';
import { Visibility } from '../calls/authorization/visibility.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { ServerConfig } from '../config/schema/schema.js';
import type { Energy } from '../energy/energy.js';
import type { Events } from '../events.js';
import type { Caller } from '../policy/capabilities.js';
import type { FlowRuns } from '../policy/flows.js';
import type { Redactor } from '../redaction/redactor.js';

type FindTools = (server: string, caller: Caller | undefined) => ReadonlyMap<string, CatalogTool> | undefined;

export interface PolicyWiring {
  readonly settings: AuthorizationSettings;
  readonly catalog: Catalog;
  readonly events: Events;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  readonly pins: Pins;
  readonly serverConfig: (name: string) => ServerConfig | undefined;
  /** The tools listed on the dedicated connection of this caller; undefined if there is none. */
  readonly dedicatedTools: FindTools;
  /** The same if the caller has credentials of its own: these tools need not be in the catalog. */
  readonly ownTools: FindTools;
  /** Redacts what is shown to a person, and finds secrets in what an agent sends. */
  readonly redactor: Pick<Redactor, 'knows' | 'finds' | 'truncated' | 'large'>;
  /** What runs carried, shared by all runtimes that an agent's calls go through. */
  readonly runs: FlowRuns;
  /** Meters calls, and knows the budgets. */
  readonly energy: Energy | undefined;
  /** The approvals of the sibling runtime. Absent: its own. */
  readonly shared: Approvals | undefined;
}

export interface PolicyParts {
  readonly approvals: Approvals;
  readonly policy: EffectivePolicy;
  readonly visibility: Visibility;
  readonly preview: DecisionPreview;
  readonly authorizer: CallAuthorizer;
  /** Ends pending approvals, and writes the pins. */
  closeApprovals(): Promise<unknown>;
}

const APPROVAL_TIMEOUT_MS = 120_000;

export function createPins(
  settings: AuthorizationSettings,
  { stateDir, events, now, catalog }: Pick<PolicyWiring, 'events' | 'now'> & PinsContext,
): Pins {
  return new Pins({
    mode: settings.pins ?? 'approved',
    store: new PinStore(stateDir),
    events,
    now,
    findTool: (server, tool) => catalog().find(server, tool),
    toolsOf: (server) => catalog().listByServer(server),
  });
}

interface PinsContext {
  readonly stateDir: string;
  readonly catalog: () => Catalog;
}

export function wirePolicy(wiring: PolicyWiring): PolicyParts {
  const { settings, catalog, events, pins, redactor, runs, serverConfig, energy, shared } = wiring;
  const approvals = shared ?? createApprovals(wiring);
  const search = new ArgumentScanner(redactor);
  const { defaultDecision, flows } = settings;
  const { secrets } = search;
  const policy = new EffectivePolicy({
    catalog,
    pins,
    secrets,
    serverConfig,
    runs,
    defaultDecision,
    flows,
    isInline: shared !== undefined,
    energy,
  });
  const visibility = new Visibility(policy.options);
  const preview = new DecisionPreview({ policy, pins, catalog });
  const findCurrentDefinition = createDefinitionLookup(wiring);
  const questions = new CallApprover({
    ...wiring,
    approvals,
    serverPolicy: policy.options.serverPolicy,
    findCurrentDefinition,
    rules: () => policy.rules,
    onAlways: settings.onAlways,
    maxWaitMs: settings.approvalWaitMs,
    offersAlways: shared === undefined,
  });
  const parts = {
    policy,
    pins,
    catalog,
    events,
    scanner: search,
    visibility,
    approver: questions,
    energy,
    findCurrentDefinition,
  };
  const authorizer = new CallAuthorizer(parts);
  const closeApprovals = (): Promise<unknown> => {
    if (shared === undefined) approvals.close();
    return pins.flush();
  };
  return { approvals, policy, visibility, preview, authorizer, closeApprovals };
}

function createApprovals({ settings, events, now, monotonicNow }: PolicyWiring): Approvals {
  return new Approvals({
    approve: settings.approve,
    queue: settings.approvals === 'queue',
    hint: settings.approvalHint,
    timeoutMs: settings.approvalTimeoutMs ?? APPROVAL_TIMEOUT_MS,
    now,
    monotonicNow,
    createId: randomUUID,
    events,
  });
}

/** On a dedicated connection a tool may differ from the shared one. */
function createDefinitionLookup(wiring: PolicyWiring): FindCurrentDefinition {
  const { catalog, dedicatedTools, ownTools, pins } = wiring;
  return (definition, caller) => {
    if (definition === undefined) return undefined;
    if (definition.native) return catalog.get(definition.name);
    const { server, tool } = definition;
    const known = catalog.find(server, tool);
    if (known === undefined) return ownTools(server, caller)?.get(tool);
    const dedicated = dedicatedTools(server, caller);
    if (dedicated === undefined) return known;
    const listed = dedicated.get(tool);
    const isSame = listed !== undefined && pins.hashOf(listed) === pins.hashOf(known);
    return isSame ? known : listed;
  };
}
