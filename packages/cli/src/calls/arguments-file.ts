import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { TurnbuckleError } from 'turnbuckle';
import { parseLossless } from 'turnbuckle/host';
import { isRecord } from 'turnbuckle/light';

/** A JSON object with arguments, from a file or, by `-`, from stdin. */
export async function readArgumentsFile(file: string): Promise<Record<string, unknown>> {
  const text =
    file === '-'
      ? await readStream(process.stdin)
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new TurnbuckleError('ARGUMENTS_INVALID', `Cannot read the arguments file ${file}.`, {
            cause,
            hint: 'Pass a file that contains a JSON object, or - for stdin.',
          });
        });
  try {
    const value: unknown = parseLossless(text);
    if (isRecord(value)) return value;
  } catch {
    // told below
  }
  const name = file === '-' ? 'stdin' : file;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `${name} is not a JSON object.`, {
    hint: 'Pass the arguments as a JSON object: {"a": 1}',
  });
}
