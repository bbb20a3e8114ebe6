import { callContract } from './call-contract.js';
import { openNetwork } from './ports.js';
import { everyLane } from './setting.js';

const way = { transport: 'websocket', reportedTransport: 'websocket', open: openNetwork('websocket') };
// requirement C1
for (const setting of everyLane(way, () => ({ carriesProgress: true, outlivesDrop: false })))
  callContract(setting);
