import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { parseStrictly, TurnbuckleError } from 'turnbuckle';

/** A JSON object with arguments, from a file or, by `-`, from stdin. */
export async function readArgumentsFile(file: string): Promise<Record<string, unknown>> {
  const text =
    file === '-'
      ? await readStream(process.stdin)
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new TurnbuckleError('ARGUMENTS_INVALID', `The file of arguments ${file} cannot be read.`, {
            cause,
            hint: 'Name a file with a JSON object, or - for stdin.',
          });
        });
  try {
    const value: unknown = parseStrictly(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // told below
  }
  const name = file === '-' ? 'What came from stdin' : file;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `${name} is not a JSON object.`, {
    hint: 'Give an object with the arguments by name: {"a": 1}',
  });
}
