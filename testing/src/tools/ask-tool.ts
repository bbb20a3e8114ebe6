import type { FixtureTool, Question } from '../kernel/behaviour.js';
import { createTool, toText } from './tool.js';

const QUESTIONS: Readonly<Record<string, (text: string) => Question>> = {
  elicitation: (message) => ({
    method: 'elicitation/create',
    params: {
      message,
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  }),
  sampling: (text) => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 10 },
  }),
  roots: () => ({ method: 'roots/list', params: {} }),
};

/** Sends `rounds` requests to the client, one after the other, and returns the answers as JSON. */
export function createAskTool(): FixtureTool {
  return createTool(
    {
      name: 'ask',
      description: 'Asks the client and shows its answers',
      input: {
        kind: { type: 'string', enum: Object.keys(QUESTIONS) },
        rounds: { type: 'integer', minimum: 1 },
      },
      required: [],
    },
    async ({ kind = 'elicitation', rounds = 1 }, call) => {
      const create = QUESTIONS[String(kind)] ?? QUESTIONS.elicitation;
      const answers = [];
      for (let round = 1; round <= Number(rounds) && create; round += 1) {
        answers.push(await call.ask(`answer${round}`, create(`Question ${round}?`)));
      }
      return toText(JSON.stringify(answers));
    },
  );
}
