import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../nearest-word.js';

const WORDS = ['start', 'stop', 'restart', 'status'];
/** What a daemon has and a client on stdin and stdout does not. */
const OF_DAEMON = ['port', 'host', 'demo'];
/** The other way round. */
const OF_STDIO = ['view', 'as', 'capability'];

export async function run(context: CommandContext): Promise<number> {
  const { words, flags } = context;
  const [word] = words;
  refuseWithoutEffect(context);
  if (flags.stdio === true) {
    const { serveStdio } = await import('../daemon/serve-stdio.js');
    await serveStdio(context);
    return 0;
  }
  // Before anything is started, or ended.
  if (word === undefined || word === 'start' || word === 'restart') await checkOptions(context);
  if (word === undefined) {
    const { serveHere } = await import('../daemon/serve-here.js');
    return serveHere(context);
  }
  const background = await import('../daemon/background.js');
  switch (word) {
    case 'start':
      return background.startDaemonProcess(context);
    case 'stop':
      return background.stopDaemonProcess(context);
    case 'restart':
      return background.restartDaemonProcess(context);
    case 'status':
      return background.showDaemon(context);
    default:
      throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is nothing that serve can do.`, {
        hint: `Did you mean "turnbuckle serve ${nearestWord(word, WORDS) ?? 'start'}"?`,
      });
  }
}

async function checkOptions(context: CommandContext): Promise<void> {
  const [{ portOf }, { configurationOptions }] = await Promise.all([
    import('../daemon/port-of.js'),
    import('../open.js'),
  ]);
  portOf(context.flags.port, context.environment.PORT);
  configurationOptions(context);
}

/** Words and options that would be passed over: whoever wrote them wants something that would not happen. */
function refuseWithoutEffect({ words: [word], flags }: CommandContext): void {
  if (flags.stdio !== true) {
    const own = OF_STDIO.find((name) => flags[name] !== undefined);
    if (own === undefined) return;
    const why = own === 'view' ? 'a daemon has all its views' : 'a daemon knows its callers by their tokens';
    throw new TurnbuckleError('ARGUMENTS_INVALID', `--${own} is for --stdio: ${why}.`, {
      hint:
        own === 'view'
          ? 'They are at /mcp/<view>. For one client: turnbuckle serve --stdio --view <view>'
          : 'Make one: turnbuckle token create <name>',
    });
  }
  const named = word ?? OF_DAEMON.find((name) => flags[name] !== undefined);
  if (named === undefined) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `--stdio does not go with ${word === undefined ? '--' : ''}${named}: it serves one client and listens nowhere.`,
    { hint: 'Leave one of them out.' },
  );
}
