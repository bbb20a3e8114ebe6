import { fuzzEvent, fuzzFrame, fuzzLine } from '../fuzz/fuzz-bytes.js';
import { sendFuzzResponse } from '../fuzz/fuzz-http.js';
import { FuzzMessages } from '../fuzz/fuzz-messages.js';
import type { Behaviour, Listed, Page } from '../kernel/behaviour.js';
import { Flags } from '../kernel/flags.js';
import { ANSWERED } from '../kernel/methods.js';
import { createRandom } from '../seeded-random.js';
import { serve } from '../serve.js';
import { createEchoTool } from '../tools/basic-tools.js';
import { createTool, toText } from '../tools/tool.js';

// Sends random messages like a broken or hostile server. `spray` sends a number of messages from a seed before its
// response, or instead of it. Flags: --seed <n>, --odd-lists (nearly valid definitions), --odd-http <share of
// requests>, --odd-answers <share of the lines on stdout, including the handshake>.
const flags = new Flags();
const transport = flags.text('transport', 'stdio');
const own = new FuzzMessages(createRandom(flags.number('seed', 1)));
const oddHttp = flags.number('odd-http', 0);
const oddAnswers = flags.number('odd-answers', 0);
const ODD_BYTES: Readonly<Record<string, typeof fuzzLine>> = {
  stdio: fuzzLine,
  http: fuzzEvent,
  sse: fuzzEvent,
  websocket: fuzzFrame,
};

const spray = createTool(
  {
    name: 'spray',
    description: 'So many odd messages of a seed, then an answer',
    input: {
      seed: { type: 'integer' },
      cases: { type: 'integer', minimum: 1, maximum: 1_000 },
      bytes: { type: 'number', minimum: 0, maximum: 1 },
      answer: { enum: ['good', 'odd'] },
    },
    required: ['seed', 'cases'],
  },
  ({ seed, cases, bytes = 0, answer = 'good' }, call) => {
    const messages = new FuzzMessages(createRandom(Number(seed)));
    const context = {
      ids: [call.id, 0, 1, 2, 1_000_000_000, 'question-1', null],
      progressToken: call.meta.progressToken,
    };
    for (let count = 0; count < Number(cases); count += 1) {
      if (messages.json.chance(Number(bytes)))
        call.reply.writeRaw((ODD_BYTES[transport] ?? fuzzLine)(messages, context));
      else call.reply.deliver(messages.serverMessage(context).replaceAll(/[\r\n]/g, ' '), { final: false });
    }
    if (answer === 'good') return toText('sprayed');
    call.reply.deliver(messages.answer(call.id, messages.result()).replaceAll(/[\r\n]/g, ' '), {
      final: true,
    });
    return ANSWERED;
  },
);

/** A page of random definitions; texts that are not valid JSON are omitted. */
function oddPage(listed: Listed): Page {
  const items = Array.from({ length: 20 }, (_, index) => own.definition(index)).flatMap((text) => {
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      return [];
    }
  });
  return { items: listed === 'tools' ? [...items, spray.definition, createEchoTool().definition] : items };
}

const behaviour: Behaviour = {
  name: 'fuzzing',
  tools: [createEchoTool(), spray],
  ...(flags.on('odd-lists') && { resources: [], prompts: [], page: oddPage }),
};

await serve(behaviour, {
  flags,
  gate: (_, response) => {
    if (!own.json.chance(oddHttp)) return false;
    sendFuzzResponse(own, response);
    return true;
  },
  write: (text) => {
    const odd = own.json.chance(oddAnswers);
    process.stdout.write(`${odd ? own.answer(idOf(text), '{"protocolVersion":"2025-11-25"}') : text}\n`);
  },
});

function idOf(text: string): unknown {
  const message: unknown = JSON.parse(text);
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
}
