import { locateEntries } from '../locate.js';
import { BRACE_STYLE } from '../placeholder-styles.js';
import { isEntry, own, ownAt, without } from '../plain-value.js';

const first = {
  container: ['mcp'],
  style: BRACE_STYLE,
  typeKey: 'type',
  transports: { stdio: 'local', http: 'remote' },
  keys: { env: 'environment', cwd: 'cwd' },
  timeouts: [{ key: 'timeout', unit: 'ms', to: 'connectTimeoutMs' }],
  switchKey: 'enabled',
  after: (entry) => joinCommand(entry),
};
const second = {
  ...first,
  container: ['mcp', 'servers'],
  timeouts: [
    { key: 'timeout.startup', unit: 'ms', to: 'connectTimeoutMs' },
    { key: 'timeout.request', unit: 'ms', to: 'callTimeoutMs' },
  ],
  switchKey: 'disabled',
  owns: ['timeout'],
  before(entry) {
    if (!isEntry(entry.timeout)) return entry;
    const parts = Object.entries(entry.timeout).map(([key, value]) => [`timeout.${key}`, value]);
    return { ...without(entry, 'timeout'), ...Object.fromEntries(parts) };
  },
  after(entry) {
    const { 'timeout.startup': startup, 'timeout.request': request, ...rest } = joinCommand(entry);
    const timeout = {
      ...(startup === undefined ? {} : { startup }),
      ...(request === undefined ? {} : { request }),
    };
    return Object.keys(timeout).length === 0 ? rest : { ...rest, timeout };
  },
};
export const opencode = {
  id: 'opencode',
  label: 'opencode',
  format: 'json',
  candidates: (at) => {
    const files = ['opencode.json', 'opencode.jsonc'];
    return [
      ...files.map((file) => at.project(file)),
      ...files.map((file) => at.project('.opencode', file)),
      ...at.given('OPENCODE_CONFIG'),
      ...files.flatMap((file) => at.given('OPENCODE_CONFIG_DIR', file)),
      ...files.map((file) => at.config('opencode', file)),
    ];
  },
  dialect: first,
  dialectOf,
  locate: (root) =>
    locateEntries(root, dialectOf(root)).map((entry) => ({ ...entry, ...toolSwitches(root, entry.name) })),
};
/** A server could be called "servers" in version 1, so its look counts too. */
function dialectOf(root) {
  const servers = ownAt(root, ['mcp', 'servers']);
  const isServer = typeof own(servers, 'type') === 'string' || own(servers, 'enabled') !== undefined;
  return isEntry(servers) && !isServer ? second : first;
}
/** `tools` at the top of the file switches tools by `server_tool`, with `*` for any text. */
function toolSwitches(root, server) {
  const prefix = `${server}_`;
  const switches = own(root, 'tools');
  const all = Object.entries(isEntry(switches) ? switches : {});
  const exact = all.filter(([name, on]) => on === false && name.startsWith(prefix) && !/[*?]/.test(name));
  const patterns = all.flatMap(([name, on]) => {
    const fixed = name.split(/[*?]/)[0] ?? '';
    const concerned = fixed !== name && (fixed.startsWith(prefix) || prefix.startsWith(fixed));
    return concerned ? [`${name}: ${on === true}`] : [];
  });
  return {
    excludeTools: exact.map(([name]) => name.slice(prefix.length)),
    notes:
      patterns.length === 0 ? [] : [`not carried over: tools switched by pattern (${patterns.join(', ')})`],
  };
}
function joinCommand({ command, args, ...rest }) {
  return command === undefined ? rest : { command: [command, ...(Array.isArray(args) ? args : [])], ...rest };
}
//# sourceMappingURL=opencode.js.map
