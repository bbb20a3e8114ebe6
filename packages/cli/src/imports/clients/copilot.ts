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
    // The client keeps a secret in the keychain, never in a file.
    oauth: { keys: { clientId: 'oauthClientId' } },
    ownedKeys: ['tools'],
    normalizeEntry(entry) {
      // A client without a secret is a public one, here too.
      const plain = entry.oauthPublicClient === true ? omitKeys(entry, 'oauthPublicClient') : entry;
      if (!Array.isArray(plain.tools)) return plain;
      const tools = stringsIn(plain.tools);
      return { ...omitKeys(plain, 'tools'), ...(tools.includes('*') ? {} : { includeTools: tools }) };
    },
    finalizeEntry: (entry) => ({ tools: ['*'], ...entry }),
  },
};
