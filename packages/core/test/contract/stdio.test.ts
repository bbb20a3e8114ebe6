import { callContract } from './call-contract.js';
import { openStdio } from './ports.js';
import { everyLane } from './setting.js';

const settings = everyLane({ transport: 'stdio', reportedTransport: 'stdio', open: openStdio }, () => ({
  carriesProgress: true,
  outlivesDrop: true,
}));
for (const setting of settings) callContract(setting);
