/** Questions to the person at the terminal. Only loaded, and only asked, when there is one. */
import { cancel, confirm, isCancel, password, select, text } from '@clack/prompts';
import { TurnbuckleError } from 'turnbuckle';
import { showLine, showText } from './untrusted-text.js';

// The result may go to a file; a question may not.
const TERMINAL = { output: process.stderr, withGuide: false } as const;
/** Room for a sentence: what asks may have been written by a server. */
const MAX_QUESTION_WIDTH = 300;

let cancelText = 'Nothing was done.';

/** Asks for something that has already begun: this is what a cancelled question leaves. */
export async function withCancelText<T>(text: string, ask: () => Promise<T>): Promise<T> {
  const before = cancelText;
  cancelText = text;
  return ask().finally(() => {
    cancelText = before;
  });
}

function requireAnswer<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel(cancelText, TERMINAL);
  // While a question is open, the terminal sends Ctrl-C as a key. It ends the command all the same.
  process.emit('SIGINT', 'SIGINT');
  throw new TurnbuckleError('CALL_CANCELLED', 'Prompt cancelled.');
}

export interface DeclaredInput {
  readonly description?: string | undefined;
  readonly password: boolean;
  readonly default?: string | undefined;
  readonly options?: readonly string[] | undefined;
}

/** The value of `${input:id}`. */
export async function askInput(id: string, declared: DeclaredInput | undefined): Promise<string> {
  const { description = `Value of "${id}"`, options, default: defaultValue } = declared ?? {};
  if (options !== undefined) return askOneOf(description, options, defaultValue);
  if (declared?.password === true)
    return requireAnswer(await password({ message: showLine(description, MAX_QUESTION_WIDTH), ...TERMINAL }));
  return askText(description, { defaultValue });
}

export interface TextQuestion {
  /** The initial value. */
  readonly defaultValue?: string | undefined;
  /** Why this cannot be the answer; undefined when it can. */
  readonly validate?: (answer: string) => string | undefined;
}

export async function askText(
  message: string,
  { defaultValue, validate }: TextQuestion = {},
): Promise<string> {
  return requireAnswer(
    await text({
      message: showLine(message, MAX_QUESTION_WIDTH),
      ...(defaultValue !== undefined &&
        showText(defaultValue) === defaultValue && { initialValue: defaultValue }),
      ...(validate !== undefined && { validate: (answer) => validate(answer ?? '') }),
      ...TERMINAL,
    }),
  );
}

/** Typed without being shown. */
export async function askHidden(
  message: string,
  refuse: (answer: string) => string | undefined = () => undefined,
): Promise<string> {
  return requireAnswer(
    await password({
      message: showLine(message, MAX_QUESTION_WIDTH),
      validate: (answer) => refuse(answer ?? ''),
      ...TERMINAL,
    }),
  );
}

/** One of these; the usual one is chosen already. */
export async function askOneOf(message: string, values: readonly string[], usual?: string): Promise<string> {
  return requireAnswer(
    await select({
      message: showLine(message, MAX_QUESTION_WIDTH),
      options: values.map((value) => ({ value, label: showLine(value) })),
      ...(usual !== undefined && { initialValue: usual }),
      ...TERMINAL,
    }),
  );
}

/** No is chosen already. */
export async function askYesNo(message: string): Promise<boolean> {
  return requireAnswer(await confirm({ message: showText(message), initialValue: false, ...TERMINAL }));
}
