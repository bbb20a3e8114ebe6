/** Copilot on the command line: every entry says which tools it offers, `*` for all. */
import type { Client } from '../client.js';
import { SHELL_STYLE } from '../entries/placeholder-styles.js';
import { omitKeys, stringsIn } from '../formats/plain-value.js';

export const copilot: Client = {
  id: 'copilot',
  label: 'Copilot CLI',
  format: 'json',
  candidates: (at) => [
    ...at.fromEnvironment('COPILOT_HOME', 'mcp-config.json'),
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
    ownedKeys: ['tools'],
    normalizeEntry(entry) {
      if (!Array.isArray(entry.tools)) return entry;
      const tools = stringsIn(entry.tools);
      return { ...omitKeys(entry, 'tools'), ...(tools.includes('*') ? {} : { includeTools: tools }) };
    },
    finalizeEntry: (entry) => ({ tools: ['*'], ...entry }),
  },
};
