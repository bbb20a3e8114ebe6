import { appendFileSync, existsSync, statSync } from 'node:fs';
import { Flags } from '../kernel/flags.js';
import { INTERNAL_ERROR, RpcError } from '../kernel/rpc-error.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';

// Fails the first --times (default 1) of --at start|list|call, by --how exit|error, then works. The count is stored
// in --state-file, so that it survives the process. `start` with `error` refuses the handshake.
const flags = new Flags();
const at = flags.choice('at', ['start', 'list', 'call']);
const how = flags.choice('how', ['exit', 'error']);
const times = flags.number('times', 1);
const stateFile = flags.text('state-file');
if (stateFile === '') throw new Error('--state-file is needed');

const failingMethods = {
  start: ['initialize', 'server/discover'],
  list: ['tools/list'],
  call: ['tools/call'],
}[at];

function failWhileDue(): void {
  const failures = existsSync(stateFile) ? statSync(stateFile).size : 0;
  if (failures >= times) return;
  appendFileSync(stateFile, '.');
  if (how === 'error') throw new RpcError(INTERNAL_ERROR, `flaky: failure ${failures + 1} of ${times}`);
  process.stderr.write(`flaky: failure ${failures + 1} of ${times}\n`);
  process.exit(1);
}

if (at === 'start' && how === 'exit') failWhileDue();

await serve(
  {
    name: 'flaky',
    tools: createBasicTools(),
    received: (method) => {
      if (failingMethods.includes(method)) failWhileDue();
    },
  },
  { flags },
);
