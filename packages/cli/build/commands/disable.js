import { switchServers } from '../switch-servers.js';
export const run = (context) => switchServers(context, 'disable');
//# sourceMappingURL=disable.js.map
