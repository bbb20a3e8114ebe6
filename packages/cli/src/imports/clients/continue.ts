/** Continue: a list of named servers in YAML, or one file for each in a folder of the project. */
import type { Client } from '../client.js';
import { WORKFLOW_STYLE } from '../entries/placeholder-styles.js';
import { isEntry, omitKeys } from '../formats/plain-value.js';

export const continueDev: Client = {
  id: 'continue',
  label: 'Continue',
  format: 'yaml',
  candidates: (at) => [
    ...['.yaml', '.yml', '.json'].map((ending) => ({
      ...at.project('.continue', 'mcpServers'),
      each: { ending },
    })),
    at.home('.continue', 'config.yaml'),
  ],
  dialect: {
    container: ['mcpServers'],
    list: true,
    style: WORKFLOW_STYLE,
    typeKey: 'type',
    transports: { stdio: 'stdio', http: 'streamable-http', sse: 'sse' },
    keys: { cwd: 'cwd' },
    timeouts: [{ key: 'connectionTimeout', unit: 'ms', to: 'connectTimeoutMs' }],
    ownedKeys: ['requestOptions'],
    normalizeEntry(entry) {
      if (!isEntry(entry.requestOptions)) return entry;
      const { headers, ...others } = entry.requestOptions;
      const rest = omitKeys(entry, 'requestOptions');
      return {
        ...rest,
        ...(headers === undefined ? {} : { headers }),
        ...(Object.keys(others).length === 0 ? {} : { requestOptions: others }),
      };
    },
    finalizeEntry: ({ headers, ...rest }) =>
      headers === undefined ? rest : { ...rest, requestOptions: { headers } },
  },
};
