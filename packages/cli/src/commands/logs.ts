import { setTimeout as delay } from 'node:timers/promises';
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { requireUsable } from '../connect-servers.js';
import { throughDaemon } from '../daemon/attachment.js';
import { withRuntime } from '../open.js';
import { escapeHidden, showLine, showMessage } from '../untrusted-text.js';
import { needWord } from '../words.js';

/** As long as a timer can be. */
const FOREVER_MS = 2 ** 31 - 1;

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, signal } = context;
  const server = needWord(context, 0, 'server');
  const seconds = flags.seconds === undefined ? Number.POSITIVE_INFINITY : Number(flags.seconds);
  if (!(seconds > 0))
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `--seconds "${String(flags.seconds)}" is not a number of seconds.`,
      { hint: 'For example --seconds 5' },
    );
  const tell = (kind: string, text: string): void => {
    const time = new Date().toISOString();
    if (output.json) output.line(escapeHidden(JSON.stringify({ time, server, kind, text })));
    else output.line(`${output.color.dim(kind.padEnd(8))} ${showMessage(text)}`);
  };
  const forMs = Math.min(seconds * 1_000, FOREVER_MS);
  const done = await throughDaemon(context, async (client) => {
    const { followDaemon } = await import('../daemon/daemon-events.js');
    const listenTo = (source: Pick<Runtime, 'on'>): void => listen(source, server, tell);
    await followDaemon(context, client, { server, forMs, tell, listenTo });
  });
  if (done !== undefined) return;
  await withRuntime(context, async ({ runtime }) => {
    requireUsable(runtime, server);
    listen(runtime, server, tell);
    const failure = await runtime.connect(server).then(
      () => undefined,
      (error: unknown) => error,
    );
    // Nothing more will come from a server that waits for a person, not for its next try.
    if (failure instanceof TurnbuckleError && !failure.retryable) throw failure;
    await delay(forMs, undefined, { signal });
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

type Tell = (kind: string, text: string) => void;

function listen(runtime: Pick<Runtime, 'on'>, server: string, tell: Tell): void {
  const mine = (event: { readonly server: string }): boolean => event.server === server;
  runtime.on('server.stderr', (event) => {
    const { text, dropped } = event;
    if (!mine(event)) return;
    if (dropped !== undefined) tell('skipped', `${dropped} lines that came too fast`);
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
