import { switchServers } from '../switch-servers.js';
export const run = (context) => switchServers(context, 'enable');
//# sourceMappingURL=enable.js.map
