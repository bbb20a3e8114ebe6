/** Makes a call of the log again, by the one path of calls. */
import { randomUUID } from 'node:crypto';
import { keepSpelling, parseStrictly, type Runtime, TurnbuckleError } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import type { Visit } from '../http/visit.js';
import { cleanData } from './clean.js';
import type { LoggedCall } from './logged-call.js';

const REDACTED = '[redacted]';

/** The answer of the tool; throws when there is none, or when the log does not have what it takes. */
export async function replay(
  call: LoggedCall,
  runtime: Pick<Runtime, 'call' | 'redactSteps'>,
  { caller, signal }: Visit,
): Promise<{ readonly success: boolean; readonly id: string; readonly result: unknown }> {
  const { server, tool, kind } = call;
  if (kind !== 'tool') throw notAgain(call, `it read a ${kind}`);
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
    result: await cleanData(result, runtime),
  };
}

function argumentsOf(call: LoggedCall): Record<string, unknown> {
  const text = call.arguments;
  if (text === undefined && call.argumentsBytes > 2) throw notAgain(call, 'its arguments were not kept');
  if (text?.endsWith('…') === true) throw notAgain(call, 'not all of its arguments were kept');
  if (text?.includes(REDACTED) === true)
    throw notAgain(call, 'its arguments held a secret, which was not kept');
  try {
    // The numbers that were sent, also those that JavaScript cannot hold.
    const value: unknown = parseStrictly(text ?? '{}');
    if (typeof value === 'object' && value !== null) return keepSpelling(value, { ...value });
  } catch {
    // Told below.
  }
  throw notAgain(call, 'its arguments cannot be read');
}

const notAgain = ({ id, server, tool }: LoggedCall, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The call "${id}" cannot be made again from the log: ${why}.`, {
    server,
    tool,
    hint: 'Nothing was sent.',
  });
