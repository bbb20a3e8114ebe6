import { callContract } from './call-contract.js';
import { openNetwork } from './ports.js';
import { everyLane } from './setting.js';

const open = openNetwork('http', '--answers', 'sse');
const settings = everyLane(
  { transport: 'http with streamed answers', reportedTransport: 'http', open },
  (era) => ({
    carriesProgress: true,
    outlivesDrop: era === 'legacy',
  }),
);
for (const setting of settings) callContract(setting);
