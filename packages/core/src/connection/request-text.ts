/** The JSON of a request, made before anything waits for its answer. */
import { TurnbuckleError } from '../errors.js';
import { isTextDeeperThan } from '../json/depth.js';
import { writeJson } from '../json/spelling.js';

/** Throws ARGUMENTS_INVALID for what is no JSON: a BigInt, a ring, a getter that throws, more levels than anybody takes. */
export function requestText(server: string, message: object): string {
  const text = write(server, message);
  if (isTextDeeperThan(text)) throw notJson(server, 'they are nested too deep');
  return text;
}

function write(server: string, message: object): string {
  try {
    return writeJson(message);
  } catch (cause) {
    throw notJson(server, cause instanceof Error ? cause.message : 'they cannot be written', cause);
  }
}

function notJson(server: string, why: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `What is to be sent to server "${server}" is no JSON: ${why.split('\n', 1)[0]}.`,
    {
      server,
      cause,
      hint: 'Nothing was sent. Give plain data: objects, lists, texts, numbers, true, false and null.',
    },
  );
}
