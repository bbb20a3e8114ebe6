import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createAskTool } from '../tools/ask-tool.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { createContentTool } from '../tools/content-tool.js';
import { createDropTool } from '../tools/drop-tool.js';
import { createEffectTools, EffectLog } from '../tools/effect-tools.js';
import { createOfferings } from '../tools/offerings.js';
import { createSleepTools } from '../tools/sleep-tools.js';

// The well-behaved server with everything on it. Flags: --counter-file <path>.
const flags = new Flags();
const { touch, ...offerings } = createOfferings();

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
    ...offerings,
  },
  { flags },
);
