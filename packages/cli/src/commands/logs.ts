import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
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
    );
  await withRuntime(context, async ({ runtime }) => {
    const tell = (kind: string, text: string): void => {
      if (output.json) output.line(JSON.stringify({ time: new Date().toISOString(), server, kind, text }));
      else output.line(`${output.color.dim(kind.padEnd(8))} ${showText(text)}`);
    };
    runtime.on('server.notice', ({ level, data }) =>
      tell(level, showLine(typeof data === 'string' ? data : JSON.stringify(data), 500)),
    );
    runtime.on('server.state', ({ from, to, error }) =>
      tell('state', `${from} -> ${to}${error === undefined ? '' : `: ${error.message}`}`),
    );
    runtime.on('catalog.dropped', ({ item, reason }) => tell('dropped', `${item}: ${reason}`));
    runtime.on('catalog.changed', ({ kind, added, removed, changed }) =>
      tell('catalog', `${kind}: +${added.length} -${removed.length} ~${changed.length}`),
    );
    await runtime.connect(server).catch((error: unknown) => tell('error', String(error)));
    await follow(
      () => runtime.serverStatus(server).stderr ?? '',
      (text) => tell('stderr', text),
      { seconds, signal },
    );
  });
}

/** Tells what is new in a growing text, until the time is over or somebody has seen enough. */
async function follow(
  read: () => string,
  tell: (text: string) => void,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<void> {
  let seen = '';
  const until = Date.now() + seconds * 1_000;
  while (!signal.aborted && Date.now() < until) {
    const text = read();
    const fresh = text.startsWith(seen) ? text.slice(seen.length) : text;
    for (const line of fresh.split('\n').filter((one) => one.trim() !== '')) tell(line);
    seen = text;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
