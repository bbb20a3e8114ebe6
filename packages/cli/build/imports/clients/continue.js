import { WORKFLOW_STYLE } from '../placeholder-styles.js';
import { isEntry, without } from '../plain-value.js';
export const continueDev = {
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
    owns: ['requestOptions'],
    before(entry) {
      if (!isEntry(entry.requestOptions)) return entry;
      const { headers, ...others } = entry.requestOptions;
      const rest = without(entry, 'requestOptions');
      return {
        ...rest,
        ...(headers === undefined ? {} : { headers }),
        ...(Object.keys(others).length === 0 ? {} : { requestOptions: others }),
      };
    },
    after: ({ headers, ...rest }) =>
      headers === undefined ? rest : { ...rest, requestOptions: { headers } },
  },
};
//# sourceMappingURL=continue.js.map
