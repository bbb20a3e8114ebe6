import { callContract } from './call-contract.js';
import { openNetwork } from './ports.js';
import { everyLane } from './setting.js';

const open = openNetwork('http', '--answers', 'json');
const settings = everyLane(
  { transport: 'http with JSON answers', reportedTransport: 'http', open },
  (era) => ({
    carriesProgress: era === 'legacy',
    progressApart: true,
    outlivesDrop: false,
  }),
);
// requirement C1
for (const setting of settings) callContract(setting);
