/** Other programs that gather servers behind one address. */
import type { Client } from '../client.js';
import type { Dialect, ExtrasContext, MutableDraft, SandboxKeys } from '../dialect.js';
import type { FieldReader } from '../entries/field-reader.js';
import { ENV_PREFIX_STYLE, KEYRING_STYLE, SHELL_STYLE } from '../entries/placeholder-styles.js';
import { isVariableName } from '../entries/placeholders.js';
import { type Entry, isEntry, omitKeys, ownValue } from '../formats/plain-value.js';

const sharedDialect: Dialect = {
  container: ['mcpServers'],
  style: SHELL_STYLE,
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'streamable-http', sse: 'sse' },
  switchKey: 'disabled',
};

export const oneMcp: Client = {
  id: '1mcp',
  label: '1MCP',
  format: 'json',
  candidates: (at) => [
    ...at.fromEnvironment('ONE_MCP_CONFIG'),
    ...at.fromEnvironment('ONE_MCP_CONFIG_DIR', 'mcp.json'),
    at.config('1mcp', 'mcp.json'),
    // Selects servers but defines none; listed for completeness.
    at.project('.1mcprc'),
  ],
  dialect: {
    ...sharedDialect,
    keys: { cwd: 'cwd', excludeTools: 'disabledTools' },
    timeouts: [
      { key: 'connectionTimeout', unit: 'ms', to: 'connectTimeoutMs' },
      { key: 'requestTimeout', unit: 'ms', to: 'callTimeoutMs' },
      { key: 'timeout', unit: 'ms', to: 'callTimeoutMs' },
    ],
    oauth: {
      keys: {
        clientId: 'oauth.clientId',
        clientSecret: 'oauth.clientSecret',
        redirectUri: 'oauth.redirectUrl',
        scopes: 'oauth.scopes',
      },
    },
  },
};

/** Its own limits cannot be set for a server, so only the switch is carried. Containers are not a sandbox of ours. */
const isolation: SandboxKeys = {
  keys: ['isolation.mode'],
  read(fields, _turn, notes) {
    const given = fields.rest().isolation;
    if (!isEntry(given) || given.mode !== 'sandbox') return undefined;
    fields.any('isolation');
    const others = Object.keys(omitKeys(given, 'mode', 'enabled'));
    if (others.length > 0) notes.push(`not imported: ${others.map((key) => `isolation.${key}`).join(', ')}`);
    notes.push(
      "the Turnbuckle sandbox has different limits than mcpproxy's; check them with turnbuckle doctor",
    );
    return true;
  },
  write(sandbox, entry, notes) {
    entry.isolation = { mode: 'sandbox' };
    const lost = typeof sandbox === 'object' ? Object.keys(sandbox) : sandbox === true ? [] : ['preset'];
    notes.push(
      lost.length === 0
        ? "mcpproxy's sandbox has different limits"
        : `mcpproxy's sandbox has different limits and does not support ${lost.map((key) => `sandbox.${key}`).join(', ')}`,
    );
  },
};

export const mcpProxyGo: Client = {
  id: 'mcpproxy',
  label: 'mcpproxy',
  format: 'json',
  candidates: (at) => [at.home('.mcpproxy', 'mcp_config.json')],
  dialect: {
    ...sharedDialect,
    list: true,
    style: KEYRING_STYLE,
    typeKey: 'protocol',
    transports: { stdio: 'stdio', http: 'streamable-http', sse: 'sse' },
    keys: { cwd: 'working_dir' },
    oauth: {
      keys: {
        clientId: 'oauth.client_id',
        clientSecret: 'oauth.client_secret',
        redirectUri: 'oauth.redirect_uri',
        scopes: 'oauth.scopes',
      },
    },
    sandbox: isolation,
    switchKey: 'enabled',
    normalizeEntry(entry, notes) {
      const rest = omitKeys(entry, 'quarantined');
      if (entry.quarantined !== true) return rest;
      notes.push('quarantined in mcpproxy, so disabled here');
      return { ...rest, enabled: false };
    },
  },
};

export const mcpHub: Client = {
  id: 'mcphub',
  label: 'MCPHub',
  format: 'json',
  candidates: (at) => [at.project('mcp_settings.json')],
  dialect: {
    ...sharedDialect,
    oauth: {
      keys: {
        clientId: 'oauth.clientId',
        clientSecret: 'oauth.clientSecret',
        authUrl: 'oauth.authorizationEndpoint',
        tokenUrl: 'oauth.tokenEndpoint',
        revocationUrl: 'oauth.revocationEndpoint',
        redirectUri: 'oauth.redirectUri',
        scopes: 'oauth.scopes',
      },
    },
    switchKey: 'enabled',
    normalizeEntry: hubTools,
  },
};

/** Tools are a map by name with a switch each. */
function hubTools(entry: Entry, notes: string[]): Entry {
  if (!isEntry(entry.tools)) return entry;
  const described = Object.values(entry.tools).some((tool) => ownValue(tool, 'description') !== undefined);
  if (described) notes.push('not imported: tool descriptions that were changed in MCPHub');
  const off = Object.entries(entry.tools).filter(([, tool]) => ownValue(tool, 'enabled') === false);
  return { ...omitKeys(entry, 'tools'), excludeTools: off.map(([name]) => name) };
}

export const mcporter: Client = {
  id: 'mcporter',
  label: 'mcporter',
  format: 'json',
  candidates: (at) => [
    ...['mcporter.json', 'mcporter.jsonc'].map((file) => at.project('config', file)),
    ...at.fromEnvironment('MCPORTER_CONFIG'),
    ...['mcporter.json', 'mcporter.jsonc'].map((file) => at.home('.mcporter', file)),
  ],
  dialect: {
    container: ['mcpServers'],
    alternativeContainers: [['servers'], ['mcp']],
    style: ENV_PREFIX_STYLE,
    typeKey: 'transport',
    transports: { stdio: '', http: '', sse: 'sse' },
    keys: {
      url: 'baseUrl',
      cwd: 'cwd',
      description: 'description',
      includeTools: 'allowedTools',
      excludeTools: 'blockedTools',
    },
    oauth: {
      keys: {
        clientId: ['oauthClientId', 'oauth_client_id'],
        clientSecret: ['oauthClientSecret', 'oauth_client_secret'],
        redirectUri: ['oauthRedirectUrl', 'oauth_redirect_url'],
        scopes: ['oauthScope', 'oauth_scope'],
      },
      scopesAs: 'text',
      on: { key: 'auth', value: 'oauth' },
      ownedKeys: ['oauthClientSecretEnv'],
    },
    ownedKeys: ['bearerToken', 'bearerTokenEnv'],
    normalizeEntry: namedSecret,
    readExtras: readBearerToken,
  },
};

/** The name of a variable means the same as a placeholder for it. */
function namedSecret(entry: Entry): Entry | string {
  const { oauthClientSecretEnv: name, ...rest } = entry;
  if (typeof name !== 'string' || rest.oauthClientSecret !== undefined) return entry;
  return isVariableName(name)
    ? { ...rest, oauthClientSecret: `\${${name}}` }
    : 'its oauthClientSecretEnv is not the name of an environment variable';
}

function readBearerToken(draft: MutableDraft, fields: FieldReader, { turn, print }: ExtrasContext): void {
  if (draft.type === 'stdio') return;
  const literal = fields.text('bearerToken');
  const variable = fields.text('bearerTokenEnv');
  if (literal === undefined && variable === undefined) return;
  const token =
    variable === undefined
      ? turn(literal ?? '', 'bearerToken')
      : print([{ kind: 'env', name: variable }], 'bearerTokenEnv');
  draft.headers = Object.fromEntries([
    ...Object.entries(draft.headers ?? {}),
    ['Authorization', `Bearer ${token}`],
  ]);
}
