import { setTimeout as delay } from 'node:timers/promises';
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { timerDelay } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { throughDaemon } from '../daemon/daemon-endpoint.js';
import { withRuntime } from '../session/command-runtime.js';
import { requireUsable } from '../session/connect-servers.js';
import { escapeHidden, showLine, showMessage } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, signal } = context;
  const server = requirePositional(context, 0, 'server');
  const seconds = flags.seconds === undefined ? Number.POSITIVE_INFINITY : Number(flags.seconds);
  if (!(seconds > 0))
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `Invalid --seconds "${String(flags.seconds)}": expected a number.`,
      { hint: 'For example --seconds 5' },
    );
  const print = (kind: string, text: string): void => {
    const time = new Date().toISOString();
    if (output.json) output.line(escapeHidden(JSON.stringify({ time, server, kind, text })));
    else output.line(`${output.color.dim(kind.padEnd(8))} ${showMessage(text)}`);
  };
  const durationMs = timerDelay(seconds * 1_000);
  const done = await throughDaemon(context, async (client) => {
    const { followServerOutput } = await import('../daemon/daemon-events.js');
    const subscribe = (source: Pick<Runtime, 'on'>): void => printEvents(source, server, print);
    await followServerOutput(context, client, { server, durationMs, print, subscribe });
  });
  if (done !== undefined) return;
  await withRuntime(context, async ({ runtime }) => {
    requireUsable(runtime, server);
    printEvents(runtime, server, print);
    const failure = await runtime.connect(server).then(
      () => undefined,
      (error: unknown) => error,
    );
    // Nothing more will come from a server that waits for a person, not for its next try.
    if (failure instanceof TurnbuckleError && !failure.retryable) throw failure;
    await delay(durationMs, undefined, { signal });
    if (failure !== undefined && runtime.serverStatus(server).status !== 'connected') throw failure;
  });
}

/** `14 added, 1 removed`. */
const changeWords = (changes: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(changes)
    .filter(([, items]) => items.length > 0)
    .map(([word, items]) => `${items.length} ${word}`)
    .join(', ') || 'unchanged';

/** The levels of the protocol. */
const LEVELS = new Set(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);

type PrintLine = (kind: string, text: string) => void;

function printEvents(runtime: Pick<Runtime, 'on'>, server: string, tell: PrintLine): void {
  const mine = (event: { readonly server: string }): boolean => event.server === server;
  runtime.on('server.stderr', (event) => {
    const { text, dropped } = event;
    if (!mine(event)) return;
    if (dropped !== undefined) tell('skipped', `${dropped} lines because the server wrote output too fast`);
    if (text.trim() !== '') tell('stderr', text);
  });
  runtime.on('server.notice', (event) => {
    const { level, data } = event;
    // The level is the server's word too: it may not pass for one of the others.
    const kind = LEVELS.has(level) ? level : 'notice';
    if (mine(event)) tell(kind, showLine(typeof data === 'string' ? data : JSON.stringify(data), 500));
  });
  runtime.on('server.state', (event) => {
    const { from, to, error } = event;
    // That it is closed at the end is our own doing.
    if (mine(event) && to !== 'closed')
      tell('state', `${from} -> ${to}${error === undefined ? '' : `: ${error.message}`}`);
  });
  runtime.on('server.asked', (event) => {
    const { kind, outcome, reason } = event;
    if (mine(event)) tell('asked', `${kind}: ${outcome}${reason === undefined ? '' : `, ${reason}`}`);
  });
  runtime.on('catalog.flagged', (event) => {
    const { kind, item, flags } = event;
    if (mine(event)) tell('flagged', `${kind} ${item}: ${flags.join(', ')}`);
  });
  runtime.on('catalog.dropped', (event) => {
    if (mine(event)) tell('dropped', `${event.item}: ${event.reason}`);
  });
  runtime.on('catalog.changed', (event) => {
    const { kind, added, removed, changed } = event;
    if (mine(event)) tell('catalog', `${kind}: ${changeWords({ added, removed, changed })}`);
  });
}
