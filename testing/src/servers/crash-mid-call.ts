import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { createEffectTools, EffectLog } from '../tools/effect-tools.js';
import { createSleepTools } from '../tools/sleep-tools.js';
import { createTool } from '../tools/tool.js';

// Exits at the worst moment: in the tool `die` (after its effect, before its response), with --at-start before the
// first message, with --after-init after the handshake. --how exit|kill, --code <n>, --counter-file.
const flags = new Flags();
const how = flags.choice('how', ['exit', 'kill']);
const log = new EffectLog(flags.text('counter-file'));

function die(): never {
  if (how === 'kill') process.kill(process.pid, 'SIGKILL');
  process.exit(flags.number('code', 7));
}

if (flags.on('at-start')) {
  process.stderr.write('crash-mid-call: cannot start, as asked\n');
  die();
}

const afterInit = flags.on('after-init');

await serve(
  {
    name: 'crash-mid-call',
    tools: [
      ...createBasicTools(),
      ...createEffectTools(log),
      ...createSleepTools(),
      createTool(
        { name: 'die', description: 'Dies after its effect', annotations: { destructiveHint: true } },
        () => {
          log.add('die');
          die();
        },
      ),
      createTool(
        {
          name: 'die_read_only',
          description: 'Dies as well',
          annotations: { readOnlyHint: true, idempotentHint: true },
        },
        () => {
          log.add('die_read_only');
          die();
        },
      ),
    ],
    received: (method) => {
      if (afterInit && method === 'notifications/initialized') die();
    },
    answered: (method) => {
      // The response must have left the socket before the process exits.
      if (afterInit && method === 'server/discover') setTimeout(die, 20);
    },
  },
  { flags },
);
