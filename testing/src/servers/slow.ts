import { setTimeout as delay } from 'node:timers/promises';
import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { createEffectTools, EffectLog } from '../tools/effect-tools.js';

// Starts late (--start-ms), responds late (--answer-ms), or never responds at one step
// (--hang-at initialize|discover|list|call). --counter-file as in echo.
const flags = new Flags();
const answerMs = flags.number('answer-ms', 0);
const silentAt: Readonly<Record<string, string>> = {
  initialize: 'initialize',
  discover: 'server/discover',
  list: 'tools/list',
  call: 'tools/call',
};
const hangAt = silentAt[flags.text('hang-at')];

await delay(flags.number('start-ms', 0));
await serve(
  {
    name: 'slow',
    tools: [...createBasicTools(), ...createEffectTools(new EffectLog(flags.text('counter-file')))],
    received: (method) => (method === hangAt ? new Promise(() => {}) : delay(answerMs)),
  },
  { flags },
);
