/** Questions to the person at the terminal. Only loaded, and only asked, when there is one. */
import { cancel, confirm, isCancel, password, select, text } from '@clack/prompts';
import { TurnbuckleError } from 'turnbuckle';

function answered<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel('Nothing was done.');
  throw new TurnbuckleError('CALL_CANCELLED', 'You left the question unanswered.');
}

interface Declared {
  readonly description?: string | undefined;
  readonly password: boolean;
  readonly default?: string | undefined;
  readonly options?: readonly string[] | undefined;
}

/** The value of `${input:id}`. */
export async function askInput(id: string, declared: Declared | undefined): Promise<string> {
  const message = declared?.description ?? `Value of "${id}"`;
  if (declared?.options !== undefined)
    return answered(
      await select({ message, options: declared.options.map((value) => ({ value, label: value })) }),
    );
  if (declared?.password === true) return answered(await password({ message }));
  return answered(
    await text({ message, ...(declared?.default !== undefined && { initialValue: declared.default }) }),
  );
}

export async function askText(message: string): Promise<string> {
  return answered(await text({ message }));
}

export async function askYes(message: string): Promise<boolean> {
  return answered(await confirm({ message, initialValue: false }));
}
