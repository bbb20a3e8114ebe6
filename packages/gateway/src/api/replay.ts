/** Repeats a call of the log, on the one call path. */
import { randomUUID } from 'node:crypto';
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { copyRawNumbers, parseLossless } from 'turnbuckle/host';
import { redactData } from '../http/redact.js';
import type { RequestContext } from '../http/request-context.js';
import { hostOrCaller } from '../identity/host-or-caller.js';
import type { LoggedCall } from './shapes/logged-call.js';

const REDACTED = '[redacted]';

/** The result of the tool; throws if there is none, or if the log does not have all arguments. */
export async function replay(
  call: LoggedCall,
  runtime: Pick<Runtime, 'call' | 'redactSteps'>,
  { caller, signal }: RequestContext,
): Promise<{ readonly success: boolean; readonly id: string; readonly result: unknown }> {
  const { server, tool, kind } = call;
  if (kind !== 'tool') throw cannotReplay(call, `it read a ${kind}, and only tool calls can be replayed`);
  const id = randomUUID();
  const result = await runtime.call({
    server,
    tool,
    arguments: argumentsOf(call),
    caller: hostOrCaller(caller),
    requestId: id,
    signal,
  });
  return {
    success: result.isError !== true,
    id,
    result: await redactData(result, runtime),
  };
}

function argumentsOf(call: LoggedCall): Record<string, unknown> {
  const text = call.arguments;
  if (text === undefined && call.argumentsBytes > 2)
    throw cannotReplay(call, 'its arguments were not logged');
  if (text?.endsWith('…') === true) throw cannotReplay(call, 'its logged arguments are truncated');
  if (text?.includes(REDACTED) === true)
    throw cannotReplay(call, 'its arguments contained a secret, which was redacted');
  try {
    // Lossless, including numbers that JavaScript cannot represent.
    const value: unknown = parseLossless(text ?? '{}');
    if (typeof value === 'object' && value !== null) return copyRawNumbers(value, { ...value });
  } catch {
    // Reported below.
  }
  throw cannotReplay(call, 'its logged arguments are not valid JSON');
}

const cannotReplay = ({ id, server, tool }: LoggedCall, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Cannot replay call "${id}" because ${why}.`, {
    server,
    tool,
    hint: 'Nothing was sent.',
  });
