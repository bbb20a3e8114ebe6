import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../nearest-word.js';

const WORDS = ['start', 'stop', 'restart', 'status'];

export async function run(context: CommandContext): Promise<number> {
  const { words, flags } = context;
  const [word] = words;
  if (flags.stdio === true) {
    const { serveStdio } = await import('../daemon/serve-stdio.js');
    await serveStdio(context);
    return 0;
  }
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
