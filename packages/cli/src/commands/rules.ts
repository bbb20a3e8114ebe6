import { type CatalogTool, type ConfiguredRuntime, type PinStatus, TurnbuckleError } from 'turnbuckle';
import { callerOf } from '../caller-of.js';
import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { makeRule, removeRule, undoRules } from '../edit-rules.js';
import { nearestWord } from '../nearest-word.js';
import { withRuntime } from '../open.js';
import { doubtsAbout, knownTokens, refuseOwner } from '../rule-caller.js';
import { conditionsOf, idOf, kindOf, placeOf, ruleLine } from '../rule-text.js';
import { textTable } from '../text-table.js';
import { showMoment } from '../time-words.js';
import { readArguments } from '../tool-arguments.js';
import { unknownServer } from '../unknown-server.js';
import { showLine, showMessage, showText } from '../untrusted-text.js';
import { needWord } from '../words.js';

type Action = (context: CommandContext, configured: ConfiguredRuntime) => Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list: listRules,
  test: testCall,
  pins: listPins,
  pin: pinTools,
  unpin: unpinTools,
  allow: makeRule,
  ask: makeRule,
  deny: makeRule,
  remove: removeRule,
};

export async function run(context: CommandContext): Promise<void> {
  if (context.flags.undo === true) return undoRules(context);
  const [word = 'list'] = context.words;
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined) {
    const close = nearestWord(word, Object.keys(ACTIONS));
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is not something to do with rules.`, {
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
      rules: runtime.rules.map((placed) => ({ id: idOf(placed), ...placed })),
      toolApprovalRequired,
      pins,
      flows,
    });
  const rows = runtime.rules.map((placed, index) => [
    output.color.dim(String(index)),
    paint(placed.rule.action, output),
    showLine(conditionsOf(placed.rule), 200),
    output.color.dim(endOf(placeOf(placed), output)),
  ]);
  for (const line of textTable(rows, { width: output.width, shrink: [[2, 24]], room: PLACE_COLUMNS }))
    output.line(line);
  const tokens = knownTokens(context);
  for (const [index, { rule }] of runtime.rules.entries())
    for (const doubt of doubtsAbout(rule, tokens))
      output.warn(`${output.color.yellow('warning')} Rule ${index}: ${doubt}`);
  if (rows.length === 0)
    output.note('There are no rules. Make one: turnbuckle rules allow|ask|deny <caller> [server] [tool]');
  output.note(
    output.color.dim(
      [
        `Where no rule fits, your own calls are allowed and agent calls ${toolApprovalRequired ? 'require approval, unless they only read from a trusted server' : 'are allowed'}.`,
        PIN_WORDS[pins],
        FLOW_WORDS[flows],
      ].join(' '),
    ),
  );
}

const PIN_WORDS = {
  off: 'Tools are not pinned.',
  approved: 'A tool that changed after it was approved needs approval again.',
  all: 'A tool that is new or has changed needs approval.',
} as const;

const FLOW_WORDS = {
  off: 'Flows of private data are not watched.',
  ask: 'A call that could send out private data an agent has read needs approval.',
  deny: 'A call that could send out private data an agent has read is denied.',
} as const;

const PLACE_COLUMNS = 34;

/** Of a path that is too long for the terminal the end says more: the file and the line. */
const endOf = (place: string, { width }: CommandContext['output']): string =>
  Number.isFinite(width) && place.length > PLACE_COLUMNS ? `…${place.slice(1 - PLACE_COLUMNS)}` : place;

const paint = (action: string, { color }: CommandContext['output']): string =>
  action === 'allow' ? color.green(action) : action === 'deny' ? color.red(action) : color.yellow(action);

// --- test --------------------------------------------------------------------------------------------

async function testCall(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, words } = context;
  const server = needWord(context, 1, 'server');
  const tool = needWord(context, 2, 'tool');
  const known = runtime.serverNames();
  if (!known.includes(server) && server !== 'native') throw unknownServer(server, known);
  const kind = kindOf(flags) ?? 'tool';
  if (flags.connect === true) await connectOneOrAll(context, runtime, server);
  const found = runtime.catalog.find(server, tool);
  if (typeof flags.caller === 'string') refuseOwner(flags.caller, 'Leave --caller out, or: --caller host');
  const isHost = flags.caller === 'host' && flags.can === undefined;
  const caller = isHost ? undefined : callerOf(context, 'caller');
  const args = readArguments(words.slice(3), found?.inputSchema ?? {});
  const explanation = runtime.explain({ server, tool, kind, arguments: args, caller });
  if (output.json)
    return output.data({ server, tool, kind, caller: caller ?? null, arguments: args, ...explanation });
  const { decision, passed, unsure, labels } = explanation;
  const who = caller === undefined ? 'The host' : showLine(caller.id, 60);
  const shown = decision.hidden ? 'deny, as if it did not exist' : decision.action;
  output.line(`${who}, ${showLine(tool, 80)} of ${showLine(server, 60)}: ${paint(shown, output)}`);
  output.line(`  because ${showLine(decision.reason, 400)}`);
  const deciding = decision.rule === undefined ? undefined : runtime.rules[decision.rule.index];
  if (deciding !== undefined) output.line(`  ${ruleLine(deciding, decision.rule?.index ?? 0)}`);
  if (passed.length > 0) output.line('  rules for it that did not fit:');
  for (const { index, placed, because } of passed)
    output.line(
      `    ${ruleLine(placed, index)}  (${because} ${SEVERAL.has(because) ? 'do' : 'does'} not fit)`,
    );
  if (labels.length > 0) output.line(`  labels ${labels.join(', ')}`);
  if (unsure)
    output.note(
      'The server was not started, so what the tool says about itself, and whether it changed, is not known and may change the answer. Ask it: --connect',
    );
}

const SEVERAL: ReadonlySet<string> = new Set(['arguments', 'annotations', 'flags', 'secrets']);

// --- pins --------------------------------------------------------------------------------------------

async function listPins(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, words } = context;
  const [, server] = words;
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
      'No tool is pinned. Answer "always" to an approval, or: turnbuckle rules pin <server>',
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
    output.line(`\n${output.color.bold(showLine(`${name} ${tool}`, 120))} is not what was approved:`);
    for (const line of diff) output.line(`  ${showLine(line, 600)}`);
  }
}

const PIN_HEAD: readonly string[] = ['server', 'tool', 'now', 'pinned by', 'on', 'fingerprint'];

function pinRow(
  { server, tool, state, by, pinnedAt, hash }: PinStatus,
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
    showLine(tool, 80),
    states[state],
    by,
    showMoment(Date.parse(pinnedAt)).slice(0, 10),
    color.dim(hash.slice(0, 12)),
  ];
}

async function pinTools(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, flags, words } = context;
  const server = needWord(context, 1, 'server');
  const tool = words[2];
  await connectOneOrAll(context, runtime, server);
  const meant = runtime.catalog.listByServer(server).filter((one) => tool === undefined || one.tool === tool);
  for (const one of meant) showDefinition(one, context);
  if (flags.yes !== true && meant.length > 0 && !(await agreed(context, meant.length))) return;
  const pinned = await runtime.pins.pin(server, tool);
  if (output.json) return output.data({ pinned });
  output.line(`Pinned ${pinned.length} ${pinned.length === 1 ? 'tool' : 'tools'} of ${showLine(server, 60)}`);
}

function showDefinition(
  { tool, description = '', annotations }: CatalogTool,
  { output }: CommandContext,
): void {
  output.note(output.color.bold(showLine(tool, 100)));
  for (const line of showText(description).split('\n')) output.note(`  │ ${line}`);
  if (annotations !== undefined) output.note(`  ${showText(JSON.stringify(annotations))}`);
}

async function agreed({ output }: CommandContext, count: number): Promise<boolean> {
  if (output.interactive)
    return (await import('../ask.js')).askYes(
      `Are these the ${count === 1 ? 'definition' : `${count} definitions`} that you approve?`,
    );
  throw new TurnbuckleError(
    'APPROVAL_NEEDED',
    'What is pinned has to be approved, and there is nobody to ask.',
    {
      hint: 'Run it in a terminal, or with --yes after you have looked at the tools.',
    },
  );
}

async function unpinTools(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output, words } = context;
  const server = needWord(context, 1, 'server');
  const removed = await runtime.pins.unpin(server, words[2]);
  if (output.json) return output.data({ unpinned: removed });
  if (removed.length === 0) return output.note(`Nothing of ${showLine(server, 60)} was pinned.`);
  output.line(
    `${removed.map((name) => showLine(name, 60)).join(', ')} ${removed.length === 1 ? 'is' : 'are'} no longer pinned`,
  );
}
