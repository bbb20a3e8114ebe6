import { setTimeout as delay } from 'node:timers/promises';
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { requireUsable } from '../connect-servers.js';
import { withRuntime } from '../open.js';
import { showLine, showText } from '../untrusted-text.js';
import { needWord } from '../words.js';

const LOOK_MS = 200;

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
  await withRuntime(context, async ({ runtime }) => {
    const tell = (kind: string, text: string): void => {
      if (output.json) output.line(JSON.stringify({ time: new Date().toISOString(), server, kind, text }));
      else output.line(`${output.color.dim(kind.padEnd(8))} ${showText(text)}`);
    };
    requireUsable(runtime, server);
    listen(runtime, server, tell);
    const failure = await runtime.connect(server).then(
      () => undefined,
      (error: unknown) => error,
    );
    // Nothing more will come from a server that waits for a person, not for its next try.
    if (failure instanceof TurnbuckleError && !failure.retryable) throw failure;
    await follow(
      () => runtime.serverStatus(server).stderr ?? '',
      (text) => tell('stderr', text),
      { seconds, signal },
    );
    if (failure !== undefined && runtime.serverStatus(server).status !== 'connected') throw failure;
  });
}

type Tell = (kind: string, text: string) => void;

function listen(runtime: Runtime, server: string, tell: Tell): void {
  const mine = (event: { readonly server: string }): boolean => event.server === server;
  runtime.on('server.notice', (event) => {
    const { level, data } = event;
    if (mine(event)) tell(level, showLine(typeof data === 'string' ? data : JSON.stringify(data), 500));
  });
  runtime.on('server.state', (event) => {
    const { from, to, error } = event;
    // That it is closed at the end is our own doing.
    if (mine(event) && to !== 'closed')
      tell('state', `${from} -> ${to}${error === undefined ? '' : `: ${error.message}`}`);
  });
  runtime.on('catalog.dropped', (event) => {
    if (mine(event)) tell('dropped', `${event.item}: ${event.reason}`);
  });
  runtime.on('catalog.changed', (event) => {
    const { kind, added, removed, changed } = event;
    if (mine(event)) tell('catalog', `${kind}: +${added.length} -${removed.length} ~${changed.length}`);
  });
}

/** Tells the lines that are new at the end of a text, until the time is over or somebody has seen enough. */
async function follow(
  read: () => string,
  tell: (text: string) => void,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<void> {
  let seen = '';
  let rest = '';
  const until = Date.now() + seconds * 1_000;
  for (;;) {
    const over = signal.aborted || Date.now() >= until;
    const text = read();
    const lines = (rest + newPart(seen, text)).split('\n');
    seen = text;
    // A line may still be in the middle of being written.
    rest = over ? '' : (lines.pop() ?? '');
    for (const line of lines) if (line.trim() !== '') tell(line);
    if (over) return;
    await delay(Math.min(LOOK_MS, Math.max(until - Date.now(), 1)));
  }
}

/** What was written since: only the end of the text is kept, so its beginning may be gone. */
function newPart(seen: string, text: string): string {
  for (let cut = 0; cut < seen.length; cut += 1) {
    const kept = seen.slice(cut);
    if (text.startsWith(kept)) return text.slice(kept.length);
  }
  return text;
}
