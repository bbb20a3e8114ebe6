import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import {
  createHostilePrompts,
  createHostileResources,
  createHostileTools,
  HOSTILE,
} from '../tools/hostile-text.js';

// Hostile text in every string field. --die exits at start, with such text on stderr.
const flags = new Flags();
process.stderr.write(`${HOSTILE}\n`);
if (flags.on('die')) process.exit(3);

await serve(
  {
    name: 'hostile-text',
    info: { name: HOSTILE, version: HOSTILE, title: HOSTILE, websiteUrl: HOSTILE },
    instructions: HOSTILE,
    tools: createHostileTools(),
    ...createHostileResources(),
    prompts: createHostilePrompts(),
    answered: (method) => {
      if (method !== 'tools/list' || flags.text('transport', 'stdio') !== 'stdio') return;
      const params = { level: HOSTILE, logger: HOSTILE, data: HOSTILE };
      process.stdout.write(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n`,
      );
    },
  },
  { flags },
);
