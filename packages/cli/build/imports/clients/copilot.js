import { SHELL_STYLE } from '../placeholder-styles.js';
import { textsIn, without } from '../plain-value.js';
export const copilot = {
  id: 'copilot',
  label: 'Copilot CLI',
  format: 'json',
  candidates: (at) => [
    ...at.given('COPILOT_HOME', 'mcp-config.json'),
    at.home('.copilot', 'mcp-config.json'),
    at.project('.mcp.json'),
  ],
  dialect: {
    container: ['mcpServers'],
    style: SHELL_STYLE,
    typeKey: 'type',
    transports: { stdio: 'local', http: 'http', sse: 'sse' },
    keys: { includeTools: 'tools' },
    timeouts: [{ key: 'timeout', unit: 'ms', to: 'callTimeoutMs' }],
    owns: ['tools'],
    before(entry) {
      if (!Array.isArray(entry.tools)) return entry;
      const tools = textsIn(entry.tools);
      return { ...without(entry, 'tools'), ...(tools.includes('*') ? {} : { includeTools: tools }) };
    },
    after: (entry) => ({ tools: ['*'], ...entry }),
  },
};
//# sourceMappingURL=copilot.js.map
