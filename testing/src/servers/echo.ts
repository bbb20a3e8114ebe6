import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createAskTool } from '../tools/ask-tool.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { createContentTool } from '../tools/content-tool.js';
import { createDropTool } from '../tools/drop-tool.js';
import { createEffectTools, EffectLog } from '../tools/effect-tools.js';
import { createFixtureItems } from '../tools/items.js';
import { createSleepTools } from '../tools/sleep-tools.js';

// A well-behaved server with every kind of tool, resource and prompt. Flags: --counter-file <path>.
const flags = new Flags();
const { touch, ...items } = createFixtureItems();

await serve(
  {
    name: 'echo',
    instructions: 'Everything here is for tests.',
    tools: [
      ...createBasicTools(),
      ...createSleepTools(),
      ...createEffectTools(new EffectLog(flags.text('counter-file'))),
      createContentTool(),
      createAskTool(),
      createDropTool(),
      touch,
    ],
    ...items,
  },
  { flags },
);
