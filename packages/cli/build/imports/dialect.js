/** Keys under which clients keep the same thing; any of them is read in any file. */
export const KEY_SPELLINGS = {
  command: ['command', 'cmd'],
  args: ['args'],
  env: ['env', 'environment', 'envs'],
  cwd: ['cwd', 'working_dir', 'workingDirectory', 'workingDir'],
  url: ['url', 'serverUrl', 'httpUrl', 'uri', 'baseUrl', 'endpoint'],
  headers: ['headers', 'http_headers', 'requestHeaders'],
  description: ['description'],
  includeTools: ['includeTools', 'enabledTools', 'enabled_tools', 'allowedTools', 'available_tools'],
  excludeTools: ['excludeTools', 'disabledTools', 'disabled_tools', 'blockedTools'],
  type: ['type', 'transport', 'transportType', 'protocol'],
};
//# sourceMappingURL=dialect.js.map
