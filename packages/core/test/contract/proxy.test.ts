import { callContract } from './call-contract.js';
import { openProxy } from './ports.js';
import { everyLane } from './setting.js';

const settings = everyLane(
  { transport: 'hosted proxy', reportedTransport: 'http', open: openProxy },
  (era) => ({
    carriesProgress: true,
    outlivesDrop: era === 'legacy',
  }),
);
// requirement C1
for (const setting of settings) callContract(setting);
