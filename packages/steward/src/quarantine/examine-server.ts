/** The steps of a test, in order: start, lists, memory, texts, schemas, sample calls, lists again. */
import type { CatalogTool, ErrorCode } from 'turnbuckle';
import {
  inSlices,
  type MentionableTool,
  monotonicNow,
  type Redactor,
  SchemaChecks,
  type Steps,
  toTurnbuckleError,
  untilAborted,
} from 'turnbuckle/host';
import { callSamples } from './call-samples.js';
import { failureText } from './failure-text.js';
import { createFindings, type FindingList } from './findings.js';
import { lintSchemas } from './lint-schemas.js';
import { observeServer } from './observe-server.js';
import type { Quarantine } from './open-quarantine.js';
import type { ReportDraft, SampledCall } from './report.js';
import { createTextScan, type ScannedItem } from './scan-text.js';
import type { TestLimits } from './test-limits.js';

export interface Examination {
  readonly quarantine: Quarantine;
  readonly limits: TestLimits;
  /** The caller's signal, or the end of the time for the whole test. */
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
  readonly existing: readonly MentionableTool[];
  readonly allowNetwork: boolean;
  readonly sampleCalls: number;
  readonly seed: number;
  readonly onTools: (tools: readonly CatalogTool[]) => void;
}

interface Listed {
  readonly tools: readonly CatalogTool[];
  readonly others: readonly ScannedItem[];
}

/** What has been found out so far: a test that is cut short still reports it. */
interface Progress {
  startMs?: number;
  memoryMb?: number;
  tools: readonly CatalogTool[];
  resources: number;
  prompts: number;
  readonly problems: Map<string, readonly string[]>;
  calls: ReadonlyMap<string, SampledCall>;
}

/** A server that was silent or exited is tried once more without the probe for the newest protocol. */
const SECOND_TRY_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'CONNECT_TIMEOUT',
  'SERVER_EXITED',
  'CONNECTION_LOST',
]);
const SLOW_START_MS = 5_000;
const MUCH_MEMORY_MB = 512;

/** Rejects only if the signal aborts; `draft` then has what was found until then. */
export function examineServer(examination: Examination): {
  readonly done: Promise<void>;
  readonly draft: () => ReportDraft;
} {
  const findings = createFindings();
  const progress: Progress = { tools: [], resources: 0, prompts: 0, problems: new Map(), calls: new Map() };
  const { quarantine } = examination;
  observeServer(quarantine.runtime, findings);
  if (!quarantine.sandboxed && !quarantine.isRemote)
    findings.add('warn', 'sandbox', quarantine.note ?? 'The server ran without a sandbox.');
  return {
    done: runSteps(examination, progress, findings),
    draft: () => toDraft(quarantine, progress, findings),
  };
}

async function runSteps(examination: Examination, progress: Progress, findings: FindingList): Promise<void> {
  if (!(await connect(examination, progress, findings))) return;
  const checks = new SchemaChecks();
  await checks.load();
  const listed = await listEverything(examination, progress, findings);
  await measureMemory(examination, progress, findings);
  const scan = createScan(examination);
  await inSlices(scanSteps(listed, scan, findings));
  await inSlices(lintSteps(listed.tools, { checks, progress, findings }));
  checkAnnotations(listed.tools, findings);
  const { quarantine, signal, seed, sampleCalls, limits, allowNetwork } = examination;
  progress.calls = await callSamples({
    ...{ quarantine, checks, findings, signal, seed, allowNetwork },
    tools: listed.tools,
    count: sampleCalls,
    callMs: limits.callMs,
  });
  if (findings.all.some(({ level, where }) => level === 'fail' && where.startsWith('call of '))) return;
  await listAgain(examination, listed.tools, { scan, findings });
}

/** False: the test is over. */
async function connect(
  { quarantine: { runtime, name }, limits, signal }: Examination,
  progress: Progress,
  findings: FindingList,
): Promise<boolean> {
  const started = monotonicNow();
  for (let attempt = 1; ; attempt += 1) {
    const leftMs = Math.max(limits.connectMs - (monotonicNow() - started), 1);
    const attemptStarted = monotonicNow();
    try {
      await runtime.connect(name, { signal, maxTotalMs: leftMs });
      progress.startMs = Math.round(monotonicNow() - attemptStarted);
      if (progress.startMs > SLOW_START_MS)
        findings.add('warn', 'start', `It took ${progress.startMs} ms to start.`);
      return true;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const { code } = toTurnbuckleError(thrown);
      const isLast = attempt > 1 || !SECOND_TRY_CODES.has(code) || leftMs < limits.connectMs / 2;
      findings.add(isLast ? 'fail' : 'warn', 'connect', failureText(thrown));
      if (isLast) return false;
    }
  }
}

async function listEverything(
  { quarantine: { runtime, name }, limits, signal, onTools }: Examination,
  progress: Progress,
  findings: FindingList,
): Promise<Listed> {
  const tools = runtime.tools().filter(({ server }) => server === name);
  progress.tools = tools;
  onTools(tools);
  const waiting = { signal, maxTotalMs: limits.listMs };
  const list = async <Item>(what: string, read: () => Promise<readonly Item[]>): Promise<readonly Item[]> => {
    try {
      return await read();
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      findings.add('fail', what, failureText(thrown));
      return [];
    }
  };
  const resources = await list('resources', () => runtime.listResources(name, undefined, waiting));
  const templates = await list('templates', () => runtime.listResourceTemplates(name, undefined, waiting));
  const prompts = await list('prompts', () => runtime.listPrompts(name, undefined, waiting));
  progress.resources = resources.length + templates.length;
  progress.prompts = prompts.length;
  if (tools.length + progress.resources + progress.prompts === 0)
    findings.add('warn', 'lists', 'It offers no tools, resources or prompts.');
  const { instructions, serverInfo } = runtime.serverStatus(name);
  const toItems = (kind: ScannedItem['kind'], items: readonly object[]): ScannedItem[] =>
    items.map((item) => ({ kind, ...describe(item) }));
  return {
    tools,
    others: [
      { kind: 'server', name, definition: { ...serverInfo, instructions } },
      ...toItems('resource', resources),
      ...toItems('template', templates),
      ...toItems('prompt', prompts),
    ],
  };
}

function describe(item: object): Pick<ScannedItem, 'name' | 'definition'> {
  const { server: _, ...definition } = item as Readonly<Record<string, unknown>>;
  const name = definition.uri ?? definition.uriTemplate ?? definition.name;
  return { name: typeof name === 'string' ? name : '', definition };
}

async function measureMemory(
  { quarantine }: Examination,
  progress: Progress,
  findings: FindingList,
): Promise<void> {
  const processes = await quarantine.readProcesses();
  if (processes === undefined || processes.length === 0) return;
  progress.memoryMb = Math.round(processes.reduce((sum, { memoryKb }) => sum + memoryKb, 0) / 1_024);
  if (progress.memoryMb > MUCH_MEMORY_MB)
    findings.add('warn', 'memory', `It uses ${progress.memoryMb} MB of memory after its lists were read.`);
}

type Scan = ReturnType<typeof createTextScan>;

const createScan = ({ quarantine: { name }, existing, redactor }: Examination): Scan =>
  createTextScan({ server: name, existing, repeatsSecret: (value) => redactor.knows(value) });

const toScanned = ({ tool, definition }: CatalogTool): ScannedItem => ({
  kind: 'tool',
  name: tool,
  definition,
});

function* scanSteps({ tools, others }: Listed, scan: Scan, findings: FindingList): Steps<void> {
  for (const item of [...others, ...tools.map(toScanned)]) {
    findings.addAll(scan(item));
    yield;
  }
}

function* lintSteps(
  tools: readonly CatalogTool[],
  { checks, progress, findings }: { checks: SchemaChecks; progress: Progress; findings: FindingList },
): Steps<void> {
  for (const tool of tools) {
    const problems = lintSchemas(tool, checks);
    progress.problems.set(tool.tool, problems);
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    if (first !== undefined) findings.add('warn', `schema of ${tool.tool}`, `${first}${more}`);
    yield;
  }
}

function checkAnnotations(tools: readonly CatalogTool[], findings: FindingList): void {
  const bare = tools.filter(({ annotations }) => annotations === undefined);
  if (bare.length > 0)
    findings.add('warn', 'annotations', `${bare.length} of ${tools.length} tools have no annotations.`);
}

/** A server may show a harmless definition first, and another one later. */
async function listAgain(
  { quarantine: { runtime, name }, signal }: Examination,
  before: readonly CatalogTool[],
  { scan, findings }: { scan: Scan; findings: FindingList },
): Promise<void> {
  try {
    await untilAborted(() => runtime.refresh(name), signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return findings.add('fail', 'second list', failureText(thrown));
  }
  const after = runtime.tools().filter(({ server }) => server === name);
  await inSlices(compareSteps(before, after, { scan, findings }));
}

function* compareSteps(
  before: readonly CatalogTool[],
  after: readonly CatalogTool[],
  { scan, findings }: { scan: Scan; findings: FindingList },
): Steps<void> {
  const known = new Map(before.map(({ tool, definition }) => [tool, definition]));
  for (const tool of after) {
    yield;
    const first = known.get(tool.tool);
    if (first === tool.definition || JSON.stringify(first) === JSON.stringify(tool.definition)) continue;
    findings.add('warn', `tool ${tool.tool}`, 'Its definition changed during the test.');
    findings.addAll(scan(toScanned(tool)));
  }
}

function toDraft(
  { sandboxed, note }: Quarantine,
  { startMs, memoryMb, tools, resources, prompts, problems, calls }: Progress,
  findings: FindingList,
): ReportDraft {
  return {
    ...(startMs !== undefined && { startMs }),
    ...(memoryMb !== undefined && { memoryMb }),
    tools: tools.map(({ tool }) => {
      const sampled = calls.get(tool);
      return { name: tool, problems: problems.get(tool) ?? [], ...(sampled && { sampled }) };
    }),
    resources,
    prompts,
    findings: findings.all,
    sandboxed,
    ...(note !== undefined && { note }),
  };
}
