/** The questions that servers need answers to before they can be connected (`${input:id}`). */
import type { DeclaredInput } from './ask.js';
import type { CommandContext } from './command.js';

type AskInput = (id: string, declared: DeclaredInput | undefined) => Promise<string>;

/** Each asked once however many servers need it, and one after the other: servers are connected all at once. */
export function createInputQuestions({ output, signal }: CommandContext): AskInput {
  const answers = new Map<string, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  return (id, declared) => {
    // Two files may mean different things by one id.
    const key = JSON.stringify([id, declared]);
    const question = async (): Promise<string> => {
      signal.throwIfAborted();
      const { askInput } = await import('./ask.js');
      return output.ask(() => askInput(id, declared));
    };
    const given = answers.get(key);
    if (given !== undefined) return given;
    const answer = last.then(question);
    answers.set(key, answer);
    last = answer.catch(() => {});
    return answer;
  };
}
