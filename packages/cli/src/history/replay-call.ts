/** Makes a call of the log again, the way that turnbuckle call makes it: the same rules, approvals and output. */
import { keepSpelling, parseStrictly, TurnbuckleError, writeJson } from 'turnbuckle';
import type { CommandContext } from './command.js';
import type { LoggedCall } from './logged-call.js';
import { showLine } from './untrusted-text.js';

const REDACTED = '[redacted]';

/** Resolves with the exit code of the call; throws when the log does not have what it takes. */
export async function replayCall(context: CommandContext, call: LoggedCall): Promise<number> {
  const { server, tool, kind } = call;
  if (kind !== 'tool') throw notAgain(call, `it read a ${kind}`);
  if (server === '') throw notAgain(call, 'it was for no server that there is');
  const words = [server, tool, ...toWords(call)];
  context.output.note(`Again: ${showLine(`${server} ${tool} ${call.arguments ?? ''}`, 200)}`);
  const { run } = await import('./commands/call.js');
  return run({ ...context, words });
}

/** The arguments as they are written on a command line. */
function toWords(call: LoggedCall): string[] {
  const text = call.arguments ?? '{}';
  if (call.arguments === null && call.argumentsBytes > 2) throw notAgain(call, 'its arguments were not kept');
  if (text.endsWith('…')) throw notAgain(call, 'not all of its arguments were kept');
  if (text.includes(REDACTED)) throw notAgain(call, 'its arguments held a secret, which was not kept');
  const args = parseStrictly(text) as Record<string, unknown>;
  const keys = Object.keys(args);
  if (keys.some((key) => key === '' || key.includes('=')))
    throw notAgain(call, 'the names of its arguments cannot be written on a command line');
  return keys.map((key) => {
    // The number that was sent, not what JavaScript makes of it.
    const member = writeJson(keepSpelling(args, { [key]: args[key] }));
    return `${key}:=${member.slice(JSON.stringify(key).length + 2, -1)}`;
  });
}

const notAgain = ({ id, server, tool }: LoggedCall, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The call "${id}" cannot be made again from the log: ${why}.`, {
    server,
    tool,
    hint: `Nothing was sent. turnbuckle log show ${id} has what there is of it.`,
  });
