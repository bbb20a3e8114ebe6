import { callContract } from './call-contract.js';
import { openFetch, openServerObject } from './ports.js';
import { everyLane } from './setting.js';

const object = { transport: 'server object', reportedTransport: 'in-process', open: openServerObject };
// requirement C1
for (const setting of everyLane(object, () => ({ carriesProgress: true, outlivesDrop: true })))
  callContract(setting);

const endpoint = { transport: 'fetch endpoint', reportedTransport: 'in-process', open: openFetch };
const settings = everyLane(endpoint, (era) => ({ carriesProgress: true, outlivesDrop: era === 'legacy' }));
// Without a socket, both lanes are the SDK's.
for (const setting of settings) if (!setting.expressLane) callContract(setting);
