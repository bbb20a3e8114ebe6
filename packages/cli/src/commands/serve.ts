import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';

const DAEMON_ACTIONS = ['start', 'stop', 'restart', 'status'];
/** What a daemon has and a client on stdin and stdout does not. */
const DAEMON_ONLY_FLAGS = ['port', 'host', 'demo'];
/** The other way round. */
const STDIO_ONLY_FLAGS = ['view', 'as', 'capability'];

export async function run(context: CommandContext): Promise<number> {
  const { positionals, flags } = context;
  const [word] = positionals;
  rejectUnusedFlags(context);
  if (flags.stdio === true) {
    const { serveStdio } = await import('../serve/serve-stdio.js');
    await serveStdio(context);
    return 0;
  }
  // Before anything is started, or ended.
  if (word === undefined || word === 'start' || word === 'restart') await checkOptions(context);
  if (word === undefined) {
    const { serveInForeground } = await import('../serve/serve-foreground.js');
    return serveInForeground(context);
  }
  const background = await import('../serve/daemon-process.js');
  switch (word) {
    case 'start':
      return background.startDaemonProcess(context);
    case 'stop':
      return background.stopDaemonProcess(context);
    case 'restart':
      return background.restartDaemonProcess(context);
    case 'status':
      return background.showDaemonStatus(context);
    default:
      throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${word}".`, {
        hint: `Did you mean "turnbuckle serve ${nearestWord(word, DAEMON_ACTIONS) ?? 'start'}"?`,
      });
  }
}

async function checkOptions(context: CommandContext): Promise<void> {
  const [{ parsePort }, { parseLogLevel }, { configurationOptions }] = await Promise.all([
    import('../serve/parse-port.js'),
    import('../serve/log-output.js'),
    import('../session/command-runtime.js'),
  ]);
  parseLogLevel(context.flags['log-level']);
  parsePort(context.flags.port, context.environment.PORT);
  configurationOptions(context);
}

/** Rejects arguments and options that would be ignored. */
function rejectUnusedFlags({ positionals: [word], flags }: CommandContext): void {
  if (flags.stdio !== true) {
    const own = STDIO_ONLY_FLAGS.find((name) => flags[name] !== undefined);
    if (own === undefined) return;
    const why = own === 'view' ? 'a daemon serves all views' : 'a daemon identifies callers by their tokens';
    throw new TurnbuckleError('ARGUMENTS_INVALID', `--${own} requires --stdio, because ${why}.`, {
      hint:
        own === 'view'
          ? 'A daemon serves each view at /mcp/<view>. To serve one view to one client: turnbuckle serve --stdio --view <view>'
          : 'Create a token: turnbuckle token create <name>',
    });
  }
  const named = word ?? DAEMON_ONLY_FLAGS.find((name) => flags[name] !== undefined);
  if (named === undefined) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `--stdio cannot be combined with ${word === undefined ? '--' : ''}${named}, because --stdio serves one client and does not listen on a port.`,
    { hint: 'Remove one of them.' },
  );
}
