/** Creates the parts of a runtime and connects them. */

import type { Prompt } from '@modelcontextprotocol/client';
import type { Pins } from '../approvals/pins.js';
import { Cancellation } from '../async/cancel-signal.js';
import { monotonicNow } from '../async/monotonic-now.js';
import { pause } from '../async/until-aborted.js';
import { SignIns } from '../auth/sign-ins.js';
import { Calls } from '../calls/call.js';
import { Sender } from '../calls/sending/send.js';
import { Catalog } from '../catalog/catalog.js';
import { Discovery } from '../catalog/discovery.js';
import type { NamingPreset } from '../catalog/names.js';
import { SchemaChecks } from '../catalog/schemas/schema-checks.js';
import { EraVerdicts } from '../connection/handshake/era-verdicts.js';
import { ProcessTable } from '../connection/processes/process-table.js';
import { Energy } from '../energy/energy.js';
import { Events } from '../events.js';
import { defaultStateDirectory } from '../files/state-directory.js';
import { FlowRuns } from '../policy/flows.js';
import { redactResult } from '../redaction/redact-result.js';
import { createRedactor, type Redactor } from '../redaction/redactor.js';
import { Limiter } from '../resilience/limiter.js';
import { DEFAULT_LIMITS, type RuntimeLimits } from '../servers/limits.js';
import { ResourceWatch } from '../servers/resource-watch.js';
import { ServerBuilder } from '../servers/server-builder.js';
import { ServerSet } from '../servers/server-set.js';
import { CallerAccess } from './caller-access.js';
import { ItemLists } from './item-lists.js';
import type { WiredOptions } from './options.js';
import { OwnTools } from './own-tools.js';
import { ServerOperations } from './server-operations.js';
import { SignInOperations } from './sign-in-operations.js';
import { ToolLists } from './tool-lists.js';
import { createPins, type PolicyParts, wirePolicy } from './wire-policy.js';

export type RuntimeParts = ReturnType<typeof wire>;
/** The parts that depend on the options alone. */
interface RuntimeBase {
  readonly stateDir: string;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  readonly events: Events;
  readonly redactor: Redactor;
  readonly limits: RuntimeLimits;
  readonly naming: NamingPreset;
  readonly runs: FlowRuns;
  readonly energy: Energy | undefined;
  readonly processes: ProcessTable;
  readonly verdicts: EraVerdicts;
  readonly checks: SchemaChecks;
  readonly watch: ResourceWatch;
  readonly signIns: SignIns;
}

/** Parts that refer to each other: they are created in any order, as they are used only later. */
interface LinkedParts {
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly servers: ServerSet;
  readonly pins: Pins;
}

/** What sibling runtimes share. */
type Shared = Pick<RuntimeBase, 'redactor' | 'runs' | 'energy'> & Pick<PolicyParts, 'approvals'>;

/** With a `sibling` it shares secrets, runs and approvals. */
export function wire(options: WiredOptions, sibling?: Shared) {
  const base = createBase(options, sibling);
  const { events, runs } = base;
  const pins = createPins(options, { ...base, catalog: () => catalog });
  const catalog: Catalog = new Catalog(base.naming, events, {
    onTools: (...read) => pins.onToolsRead(...read),
    isConnected: (name) => servers.get(name)?.connection.link !== undefined,
  });
  const discovery: Discovery = createDiscovery(options, base, { catalog, pins, servers: () => servers });
  const builder = new ServerBuilder({ ...base, options, discovery });
  const servers: ServerSet = createServers(base, { catalog, discovery, builder });
  const decisions = wirePolicy({
    settings: options,
    catalog,
    events,
    now: base.now,
    monotonicNow: base.monotonicNow,
    pins,
    serverConfig: (name) => servers.get(name)?.config,
    dedicatedTools: (name, caller) => servers.get(name)?.toolsFor(caller),
    ownTools: (name, caller) => servers.get(name)?.ownToolsFor(caller),
    // Secrets that callers bring in with inline servers do not count as ours.
    redactor: sibling?.redactor ?? base.redactor,
    runs,
    energy: base.energy,
    shared: sibling?.approvals,
  });
  const items = new ItemLists({ ...base, ...decisions, catalog, discovery, servers });
  const calls = createCalls(base, { ...decisions, catalog, discovery, servers, items });
  const parts = { ...base, ...decisions, pins, catalog, discovery, builder, servers, items, calls };
  const access = new CallerAccess(parts);
  return {
    ...parts,
    tools: new ToolLists({ ...parts, ownTools: new OwnTools({ ...parts, access }) }),
    operations: new ServerOperations({ ...parts, access, instance: options.instance }),
    signInOperations: new SignInOperations(parts),
  };
}

/** A token that was requested is stored, if the authorization server answers in time. */
const MAX_SIGN_IN_CLOSE_MS = 5_000;

function within(ms: number, work: Promise<void>): Promise<void> {
  const waiting = new Cancellation();
  const done = work.finally(() => waiting.cancel());
  return Promise.race([done, pause(ms, waiting).catch(() => {})]).then(() => {});
}

/** Connections end first: processes and sign-ins belong to them. */
export async function closeParts(parts: RuntimeParts): Promise<void> {
  await Promise.all([parts.servers.close(), parts.closeApprovals()]);
  await Promise.all([parts.processes.close(), within(MAX_SIGN_IN_CLOSE_MS, parts.signIns.close())]);
  return parts.verdicts.flush();
}

function createBase(options: WiredOptions, sibling: Shared | undefined): RuntimeBase {
  const environment = options.environment ?? process.env;
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  const now = options.now ?? Date.now;
  const events = new Events();
  const redactor = sibling === undefined ? createRedactor() : sibling.redactor.createChild();
  return {
    stateDir,
    now,
    monotonicNow: options.now ?? monotonicNow,
    events,
    redactor,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    naming: options.naming ?? 'mcp__server__tool',
    runs: sibling === undefined ? new FlowRuns() : sibling.runs,
    energy: sibling === undefined ? createEnergy(options, events) : sibling.energy,
    processes: new ProcessTable(options.processStop),
    verdicts: new EraVerdicts(stateDir, now),
    checks: new SchemaChecks(),
    watch: new ResourceWatch(events),
    signIns: new SignIns({
      stateDir,
      environment,
      vault: options.vault,
      prompts: options.signIn,
      now,
      monotonicNow: options.now ?? monotonicNow,
      onSecret: (secret) => redactor.learn(secret, 'signed-in'),
    }),
  };
}

function createDiscovery(
  { describePrefix = false }: WiredOptions,
  { events, monotonicNow, naming, limits }: RuntimeBase,
  { catalog, pins, servers }: Pick<LinkedParts, 'catalog' | 'pins'> & { servers: () => ServerSet },
): Discovery {
  return new Discovery({
    catalog,
    events,
    monotonicNow,
    toolOptions: { naming, describePrefix, limits },
    maxPages: limits.maxPages,
    maxItems: limits.maxToolsPerServer,
    maxDepth: limits.maxDepth,
    listLimits: limits,
    isKnown: (name, settings) => servers().get(name)?.config === settings,
    prepare: (tool) => pins.prepare(tool),
    onAgentTools: (list, tools) => pins.onAgentToolsRead(list, tools),
  });
}

function createServers(
  { events, limits }: RuntimeBase,
  { catalog, discovery, builder }: Pick<LinkedParts, 'catalog' | 'discovery'> & { builder: ServerBuilder },
): ServerSet {
  return new ServerSet({
    catalog,
    events,
    maxServers: limits.maxServers,
    create: (name, config) => builder.create(name, config),
    onRemoved: (name) => {
      discovery.forget(name);
      events.emit('server.removed', { server: name });
    },
  });
}

function createCalls(
  { events, now, monotonicNow, naming, limits, redactor, checks, signIns, energy }: RuntimeBase,
  parts: Pick<LinkedParts, 'catalog' | 'discovery' | 'servers'> & PolicyParts & { readonly items: ItemLists },
): Calls {
  const { catalog, discovery, servers, authorizer, visibility, items } = parts;
  const sender = new Sender({
    limiter: new Limiter(limits),
    monotonicNow,
    signIn: signIns.hasPrompts
      ? (owner, error, asked) => signIns.signInForCall(owner, error, asked)
      : undefined,
    hasNewSignIn: (owner) => signIns.hasNewSignIn(owner),
    relist: (server, link) =>
      server.relistDedicated(link) ?? discovery.read(server.name, 'tools', { link, settings: server.config }),
  });
  return new Calls({
    catalog,
    checks,
    events,
    naming,
    authorizer,
    visibility,
    sender,
    redact: redactor.error,
    redactResult: (server, result) =>
      server?.config.redactResults === true ? redactResult(result, redactor) : result,
    findServer: (name) => servers.get(name),
    serverNames: () => servers.names(),
    hasPrompt: async (server, name) => {
      const listed = await items.list<Prompt>('prompts', { server });
      return listed.some((prompt) => prompt.name === name);
    },
    problemOf: (name) => servers.problemOf(name),
    now,
    energy,
  });
}

/** Functions of the host that throw are reported, and the usual cost counts. */
function createEnergy({ energy: options, now }: WiredOptions, events: Events): Energy | undefined {
  if (options === undefined) return undefined;
  const { estimate, meter } = options;
  const safely = <Input>(name: string, run: ((input: Input) => number | undefined) | undefined) =>
    run === undefined
      ? undefined
      : (input: Input): number | undefined => {
          let result: number | undefined;
          events.runSafely(name, () => {
            result = run(input);
          });
          return result;
        };
  return new Energy(
    now ?? monotonicNow,
    { ...options, estimate: safely('energy.estimate', estimate), meter: safely('energy.meter', meter) },
    ({ budget, name, left, emptyInMs }) =>
      events.emit('energy.low', { for: budget.for, name, limit: budget.limit, left, emptyInMs }),
  );
}
