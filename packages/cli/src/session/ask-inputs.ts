/** The questions that servers need answers to before they can be connected (`${input:id}`). */

import { createSerialQueue } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { DeclaredInput } from '../terminal/ask.js';

type AskInput = (id: string, declared: DeclaredInput | undefined) => Promise<string>;

/** Prompts once per input, one at a time, although servers connect in parallel. */
export function createInputPrompts({ output, signal }: CommandContext): AskInput {
  const answers = new Map<string, Promise<string>>();
  const enqueue = createSerialQueue();
  return (id, declared) => {
    // Two files may mean different things by one id.
    const key = JSON.stringify([id, declared]);
    const question = async (): Promise<string> => {
      signal.throwIfAborted();
      const { askInput } = await import('../terminal/ask.js');
      return output.ask(() => askInput(id, declared));
    };
    const given = answers.get(key);
    if (given !== undefined) return given;
    const answer = enqueue(question);
    answers.set(key, answer);
    return answer;
  };
}
