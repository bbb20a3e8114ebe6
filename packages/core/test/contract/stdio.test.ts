import { callContract } from './call-contract.js';
import { openStdio } from './ports.js';
import { everyLane } from './setting.js';

const settings = everyLane({ transport: 'stdio', reportedTransport: 'stdio', open: openStdio }, () => ({
  carriesProgress: true,
  outlivesDrop: true,
}));
// requirement C1
for (const setting of settings) callContract(setting);
