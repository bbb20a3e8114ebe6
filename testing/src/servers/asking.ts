import type { Question } from '../kernel/behaviour.js';
import { Flags } from '../kernel/flags.js';
import { toObject } from '../kernel/json.js';
import { serve } from '../serve.js';
import { createEchoTool } from '../tools/basic-tools.js';
import { createTool, toText } from '../tools/tool.js';

// Sends any server request to the client, as often as the arguments say, also unsupported ones.
const METHODS: Readonly<Record<string, Question['method']>> = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** All answers so far. */
const seen: unknown[] = [];

const ask = createTool(
  {
    name: 'ask',
    description: 'Asks the client, and shows what it answers',
    input: {
      kind: { type: 'string', enum: Object.keys(METHODS) },
      params: { type: 'object' },
      times: { type: 'integer', minimum: 1, maximum: 1_000 },
      atOnce: { type: 'boolean' },
      rude: { type: 'boolean' },
    },
    required: ['kind'],
  },
  async ({ kind, params, times = 1, atOnce, rude }, call) => {
    const question: Question = { method: METHODS[String(kind)] ?? 'roots/list', params: toObject(params) };
    call.ignoresCapabilities = rude === true;
    const keys = Array.from({ length: Number(times) }, (_, index) => `answer${index + 1}`);
    const answers = [];
    if (atOnce === true) answers.push(...(await Promise.all(keys.map((key) => call.ask(key, question)))));
    else for (const key of keys) answers.push(await call.ask(key, question));
    seen.push(...answers);
    return toText(JSON.stringify(answers));
  },
);

const answered = createTool({ name: 'answered', description: 'Shows all that it was answered' }, () =>
  toText(JSON.stringify(seen)),
);

const offered = createTool(
  { name: 'offered', description: 'Shows what the client says it answers' },
  (_, call) => toText(JSON.stringify(call.offered)),
);

await serve({ name: 'asking', tools: [createEchoTool(), ask, answered, offered] }, { flags: new Flags() });
