import { type CatalogTool, type ConfiguredRuntime, TurnbuckleError } from 'turnbuckle';
import type { PinStatus } from 'turnbuckle/host';
import { callerFromFlags } from '../calls/caller-from-flags.js';
import { parseArguments } from '../calls/tool-arguments.js';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { requirePositional } from '../command-line/positionals.js';
import { addRule, removeRule, undoRules } from '../rules/edit-rules.js';
import { callerWarnings, knownTokens, rejectOwner } from '../rules/rule-caller.js';
import { describeConditions, parseKind, ruleId, ruleLine, ruleLocation } from '../rules/rule-text.js';
import { withRuntime } from '../session/command-runtime.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import { unknownServer } from '../session/unknown-server.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine, showMessage, showText } from '../terminal/untrusted-text.js';

type Action = (context: CommandContext, configured: ConfiguredRuntime) => Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list: listRules,
  test: testCall,
  pins: listPins,
  pin: pinTools,
  unpin: unpinTools,
  allow: addRule,
  ask: addRule,
  deny: addRule,
  remove: removeRule,
};

export async function run(context: CommandContext): Promise<void> {
  if (context.flags.undo === true) return undoRules(context);
  const [word = 'list'] = context.positionals;
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined) {
    const close = nearestWord(word, Object.keys(ACTIONS));
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${word}".`, {
      hint:
        close === undefined
          ? `usage: turnbuckle rules ${context.command.arguments}`
          : `Did you mean "turnbuckle rules ${close}"?`,
    });
  }
  await withRuntime(context, (configured) => action(context, configured));
}

// --- rules -------------------------------------------------------------------------------------------

async function listRules(context: CommandContext, { runtime, config }: ConfiguredRuntime): Promise<void> {
  const { output } = context;
  const { toolApprovalRequired = true, pins = 'approved', flows = 'ask' } = config().settings;
  if (output.json)
    return output.data({
      rules: runtime.rules.map((placed) => ({ id: ruleId(placed), ...placed })),
      toolApprovalRequired,
      pins,
      flows,
    });
  const rows = runtime.rules.map((placed, index) => [
    output.color.dim(String(index)),
    paint(placed.rule.action, output),
    showLine(describeConditions(placed.rule), 200),
    output.color.dim(truncateStart(ruleLocation(placed), output)),
  ]);
  for (const line of textTable(rows, {
    width: output.width,
    shrink: [[2, 24]],
    minLastColumnWidth: PLACE_COLUMNS,
  }))
    output.line(line);
  const tokens = knownTokens(context);
  for (const [index, { rule }] of runtime.rules.entries())
    for (const doubt of callerWarnings(rule, tokens))
      output.warn(`${output.color.yellow('warning')} Rule ${index}: ${doubt}`);
  if (rows.length === 0)
    output.note('No rules. Add one: turnbuckle rules allow|ask|deny <caller> [server] [tool]');
  output.note(
    output.color.dim(
      [
        `By default, your own calls are allowed. Agent calls ${toolApprovalRequired ? 'require approval, unless they only read from a trusted server' : 'are allowed too'}.`,
        PIN_TEXTS[pins],
        FLOW_TEXTS[flows],
      ].join(' '),
    ),
  );
}

const PIN_TEXTS = {
  off: 'Tools are not pinned.',
  approved: 'A tool that changed after it was approved requires approval again.',
  all: 'A tool that is new or has changed requires approval.',
} as const;

const FLOW_TEXTS = {
  off: 'Calls that could send out private data are not checked.',
  ask: 'If an agent has read private data, calls that could send the data out require approval.',
  deny: 'If an agent has read private data, calls that could send the data out are denied.',
} as const;

const PLACE_COLUMNS = 34;

/** Keeps the end of a long path: the file and the line. */
const truncateStart = (place: string, { width }: CommandContext['output']): string =>
  Number.isFinite(width) && place.length > PLACE_COLUMNS ? `…${place.slice(1 - PLACE_COLUMNS)}` : place;

const paint = (action: string, { color }: CommandContext['output']): string =>
  action === 'allow' ? color.green(action) : action === 'deny' ? color.red(action) : color.yellow(action);

// --- test --------------------------------------------------------------------------------------------

async function testCall(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, positionals } = context;
  const server = requirePositional(context, 1, 'server');
  const tool = requirePositional(context, 2, 'tool');
  const known = runtime.serverNames();
  if (!known.includes(server) && server !== 'native') throw unknownServer(server, known);
  const kind = parseKind(flags) ?? 'tool';
  if (flags.connect === true) await connectOneOrAll(context, runtime, server);
  const found = runtime.catalog.find(server, tool);
  if (typeof flags.caller === 'string') rejectOwner(flags.caller, 'Omit --caller, or use --caller host.');
  const isHost = flags.caller === 'host' && flags.capability === undefined;
  const caller = isHost ? undefined : callerFromFlags(context, 'caller');
  const args = parseArguments(positionals.slice(3), found?.inputSchema ?? {});
  const explanation = runtime.explain({ server, tool, kind, arguments: args, caller });
  if (output.json)
    return output.data({ server, tool, kind, caller: caller ?? null, arguments: args, ...explanation });
  const { decision, passed, unsure, labels } = explanation;
  const who = caller === undefined ? 'The host' : showLine(caller.id, 60);
  const shown = decision.hidden ? `deny, as if the ${kind} did not exist` : decision.action;
  output.line(`${who}, ${showLine(tool, 80)} on ${showLine(server, 60)}: ${paint(shown, output)}`);
  output.line(`  because ${showLine(decision.reason, 400)}`);
  const deciding = decision.rule === undefined ? undefined : runtime.rules[decision.rule.index];
  if (deciding !== undefined) output.line(`  ${ruleLine(deciding, decision.rule?.index ?? 0)}`);
  if (passed.length > 0) output.line('  rules that do not match:');
  for (const { index, placed, because } of passed)
    output.line(
      `    ${ruleLine(placed, index)}  (${because} ${PLURAL_CONDITIONS.has(because) ? 'do' : 'does'} not match)`,
    );
  if (labels.length > 0) output.line(`  labels ${labels.join(', ')}`);
  if (unsure)
    output.note(
      "The server was not started, so the tool's annotations and any changes to the tool are unknown. They may affect the decision. To include them, use --connect.",
    );
}

const PLURAL_CONDITIONS: ReadonlySet<string> = new Set(['arguments', 'annotations', 'flags', 'secrets']);

// --- pins --------------------------------------------------------------------------------------------

async function listPins(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, positionals } = context;
  const [, server] = positionals;
  const isMeant = (pin: PinStatus): boolean => server === undefined || pin.server === server;
  if (flags.connect === true) {
    const configured = new Set(runtime.serverNames());
    const pinned = new Set(
      runtime.pins
        .list()
        .filter(isMeant)
        .map((pin) => pin.server),
    );
    for (const name of pinned)
      if (configured.has(name))
        await connectOneOrAll(context, runtime, name).catch((error: unknown) =>
          output.warn(`${output.color.yellow('warning')} ${showMessage(String(Object(error).message))}`),
        );
  }
  const pins = runtime.pins.list().filter(isMeant);
  if (output.json) return output.data(pins);
  if (pins.length === 0)
    return output.note(
      'No pinned tools. To pin a tool, answer an approval request with "always", or run: turnbuckle rules pin <server>',
    );
  const head = Number.isFinite(output.width) ? [PIN_HEAD.map((word) => output.color.dim(word))] : [];
  const rows = [...head, ...pins.map((pin) => pinRow(pin, output))];
  for (const line of textTable(rows, {
    width: output.width,
    shrink: [
      [1, 16],
      [0, 10],
    ],
  }))
    output.line(line);
  for (const { server: name, tool, diff = [] } of pins) {
    if (diff.length === 0) continue;
    output.line(
      `\n${output.color.bold(showLine(`${name} ${tool}`, 120))} differs from the approved definition:`,
    );
    for (const line of diff) output.line(`  ${showLine(line, 600)}`);
  }
}

const PIN_HEAD: readonly string[] = ['server', 'tool', 'now', 'pinned by', 'on', 'fingerprint'];

function pinRow(
  { server, tool, agent, state, by, pinnedAt, hash }: PinStatus,
  { color }: CommandContext['output'],
): string[] {
  const states = {
    same: color.green('same'),
    changed: color.red('changed'),
    gone: color.yellow('gone'),
    unknown: '',
  };
  return [
    showLine(server, 60),
    showLine(agent === undefined ? tool : `${tool} (${agent})`, 80),
    states[state],
    by,
    formatTimestamp(Date.parse(pinnedAt)).slice(0, 10),
    color.dim(hash.slice(0, 12)),
  ];
}

async function pinTools(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, positionals } = context;
  const server = requirePositional(context, 1, 'server');
  const tool = positionals[2];
  await connectOneOrAll(context, runtime, server);
  const meant = runtime.catalog.listByServer(server).filter((one) => tool === undefined || one.tool === tool);
  for (const one of meant) showDefinition(one, context);
  if (flags.yes !== true && meant.length > 0 && !(await confirmPins(context, meant.length))) return;
  const pinned = await runtime.pins.pin(server, tool);
  if (output.json) return output.data({ pinned });
  output.line(`Pinned ${pinned.length} ${pinned.length === 1 ? 'tool' : 'tools'} on ${showLine(server, 60)}`);
}

function showDefinition(
  { tool, description = '', annotations }: CatalogTool,
  { output }: CommandContext,
): void {
  output.note(output.color.bold(showLine(tool, 100)));
  for (const line of showText(description).split('\n')) output.note(`  │ ${line}`);
  if (annotations !== undefined) output.note(`  ${showText(JSON.stringify(annotations))}`);
}

async function confirmPins({ output }: CommandContext, count: number): Promise<boolean> {
  if (output.interactive)
    return (await import('../terminal/ask.js')).askYesNo(
      `Do you approve ${count === 1 ? 'this definition' : `these ${count} definitions`}?`,
    );
  throw new TurnbuckleError('APPROVAL_NEEDED', 'Pinning requires confirmation, and this is not a terminal.', {
    hint: 'Run the command in a terminal, or review the tools and use --yes.',
  });
}

async function unpinTools(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, positionals } = context;
  const server = requirePositional(context, 1, 'server');
  const removed = await runtime.pins.unpin(server, positionals[2]);
  if (output.json) return output.data({ unpinned: removed });
  if (removed.length === 0) return output.note(`${showLine(server, 60)} has no pinned tools.`);
  output.line(
    `${removed.map((name) => showLine(name, 60)).join(', ')} ${removed.length === 1 ? 'is' : 'are'} no longer pinned`,
  );
}
