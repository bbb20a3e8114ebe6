import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';

// Supports only the handshake, and fails on any request before it: --how exit ends the process, --how silent never
// answers the request (initialize still works), --how deaf never answers anything after it.
const flags = new Flags([...process.argv.slice(2), '--era', 'legacy']);
const how = flags.choice('how', ['exit', 'silent', 'deaf']);
const never = new Promise(() => {});
let deaf = false;

await serve(
  {
    name: 'probe-hostile',
    tools: createBasicTools(),
    received: (method, { revision }) => {
      if (deaf) return never;
      if (revision !== undefined || method === 'initialize') return undefined;
      if (how === 'exit') process.exit(1);
      deaf = how === 'deaf';
      return never;
    },
  },
  { flags },
);
