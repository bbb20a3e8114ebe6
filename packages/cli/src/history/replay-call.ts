/** Turns a logged call into the command line that makes it again, with the same rules, approvals and output. */
import { TurnbuckleError } from 'turnbuckle';
import { copyRawNumbers, parseLossless, writeJson } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { LoggedCall } from './logged-call.js';

const REDACTED = '[redacted]';

/** The context for `turnbuckle call`; throws when the log does not have what it takes. */
export function toReplayContext(context: CommandContext, call: LoggedCall): CommandContext {
  const { server, tool, kind } = call;
  if (kind !== 'tool') throw cannotReplay(call, `it was a ${kind} request, not a tool call`);
  if (server === '') throw cannotReplay(call, 'its server is unknown');
  const positionals = [server, tool, ...toPositionals(call)];
  context.output.note(`Replaying: ${showLine(`${server} ${tool} ${call.arguments ?? ''}`, 200)}`);
  return { ...context, positionals };
}

/** The arguments as they are written on a command line. */
function toPositionals(call: LoggedCall): string[] {
  const text = call.arguments ?? '{}';
  if (call.arguments === null && call.argumentsBytes > 2)
    throw cannotReplay(call, 'its arguments were not recorded');
  if (text.endsWith('…')) throw cannotReplay(call, 'its arguments were recorded only in part');
  if (text.includes(REDACTED))
    throw cannotReplay(call, 'its arguments contained a secret, which was not recorded');
  const args = parseLossless(text) as Record<string, unknown>;
  const keys = Object.keys(args);
  if (keys.some((key) => key === '' || key.includes('=')))
    throw cannotReplay(call, 'some argument names cannot be written as key=value');
  return keys.map((key) => {
    // The number that was sent, not what JavaScript makes of it.
    const member = writeJson(copyRawNumbers(args, { [key]: args[key] }));
    return `${key}:=${member.slice(JSON.stringify(key).length + 2, -1)}`;
  });
}

const cannotReplay = ({ id, server, tool }: LoggedCall, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The call "${id}" cannot be replayed because ${why}.`, {
    server,
    tool,
    hint: `Nothing was sent. Show what was recorded: turnbuckle calls show ${shellQuote(id)}`,
  });
