import { callContract } from './call-contract.js';
import { openNetwork } from './ports.js';
import { everyLane } from './setting.js';

const settings = everyLane({ transport: 'sse', reportedTransport: 'sse', open: openNetwork('sse') }, () => ({
  carriesProgress: true,
  outlivesDrop: false,
}));
// requirement C1
for (const setting of settings) callContract(setting);
