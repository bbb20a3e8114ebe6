// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** The expected servers of every client's fixture, and how the fixtures differ. */
import type { OAuthDraft } from '../../src/imports/entries/imported-server.js';
import type { ServerDraft } from '../../src/imports/index.js';

const files: ServerDraft = {
  type: 'stdio',
  command: 'node',
  args: ['server.js', '--root', '/data'],
  env: { API_TOKEN: '${API_TOKEN}', MODE: 'fast' },
};
const inFolder: ServerDraft = { ...files, cwd: '/srv/files' };
const literal: ServerDraft = { ...files, env: { API_TOKEN: 'token', MODE: 'fast' } };

const web: ServerDraft = {
  type: 'http',
  url: 'https://mcp.example.com/mcp',
  headers: { Authorization: 'Bearer ${WEB_TOKEN}' },
};
const literalWeb: ServerDraft = { ...web, headers: { Authorization: 'Bearer token' } };
const secretWeb: ServerDraft = { ...web, headers: { Authorization: `Bearer \${secret:WEB_TOKEN}` } };
const secretEnv = { API_TOKEN: `\${secret:API_TOKEN}`, MODE: 'fast' };

const old: ServerDraft = { type: 'sse', url: 'https://old.example.com/sse' };
const off: ServerDraft = { type: 'stdio', command: 'node', args: ['off.js'], enabled: false };
const usual = { files, web, off };

export interface FixtureRow {
  readonly client: string;
  readonly file: string;
  readonly project?: string;
  readonly servers: Readonly<Record<string, ServerDraft>>;
  readonly skipped?: readonly string[];
  /** Texts that the notes of a server contain. */
  readonly notes?: Readonly<Record<string, readonly string[]>>;
}

const node = (...args: string[]): ServerDraft => ({
  type: 'stdio',
  command: 'node',
  ...(args.length === 0 ? {} : { args }),
});
const http = (host: string): ServerDraft => ({ type: 'http', url: `https://${host}.example.com/mcp` });

const scopes = ['issues:read', 'issues:write'];
const clientSecret = '${TRACKER_SECRET}';

/** A server that somebody signs in to. */
const signedIn = (settings: Omit<OAuthDraft, 'type'> = {}, host = 'tracker'): ServerDraft => ({
  ...http(host),
  auth: { type: 'oauth', ...settings },
});

export const FIXTURES: readonly FixtureRow[] = [
  {
    client: 'claude-code',
    file: 'claude-code.json',
    project: '/srv/site',
    servers: {
      'local-one': node(`\${ROOT:-/srv}/local.js`),
      files,
      web: { ...web, callTimeoutMs: 45_000 },
      old,
      tracker: signedIn({
        clientId: 'abc',
        redirectUri: 'http://localhost:3118/callback',
        issuer: 'https://login.example.com/team',
        scopes,
      }),
      openid: signedIn({ issuer: 'https://login.example.com/t' }, 'openid'),
      elsewhere: signedIn({ clientId: 'abc' }, 'elsewhere'),
      off,
    },
    skipped: ['inside'],
    notes: {
      files: ['alwaysLoad'],
      web: ['oauth.clientId', 'oauth.callbackPort', 'headersHelper'],
      openid: ['is imported as the issuer'],
      elsewhere: ['oauth.authServerMetadataUrl (sign-in)'],
      off: ['disabledMcpServers'],
    },
  },
  {
    client: 'claude-desktop',
    file: 'claude-desktop.json',
    servers: {
      files: literal,
      web: literalWeb,
      old,
      shell: { type: 'stdio', command: 'sh', args: ['-c', `exec $\${HOME}/bin/server`] },
    },
    notes: { web: ['mcp-remote is removed', 'AUTH_HEADER'], old: ['mcp-remote is removed'] },
  },
  {
    client: 'cursor',
    file: 'cursor.jsonc',
    servers: {
      files,
      web,
      tracker: signedIn({ clientId: '${TRACKER_CLIENT}', clientSecret, scopes }),
      folders: { type: 'stdio', command: `\${workspaceFolder}/bin/run`, args: [`\${userHome}/notes`] },
    },
    skipped: ['editor-only'],
    notes: { files: ['envFile'], web: ['auth'] },
  },
  {
    client: 'vscode',
    file: 'vscode.json',
    servers: {
      files: { ...inFolder, sandbox: true },
      boxed: { ...node('boxed.js'), sandbox: { write: ['${workspaceFolder}/out'], network: false } },
      unboxed: node('unboxed.js'),
      tracker: signedIn({ clientId: 'abc' }),
      web: { ...web, headers: { Authorization: `Bearer \${input:web-token}` } },
      old,
    },
    skipped: ['socket', 'pipe'],
    notes: {
      files: ['sandbox.network.allowedDomains', 'cannot limit domains', 'sandbox.read', 'dev'],
      boxed: ['sandbox.filesystem.denyRead'],
      tracker: ['oauth.enterpriseManaged'],
    },
  },
  {
    client: 'copilot',
    file: 'copilot.json',
    servers: {
      files,
      web: { ...web, includeTools: ['search', 'fetch'] },
      tracker: signedIn({ clientId: 'abc' }),
      machine: signedIn({ clientId: 'abc' }, 'machine'),
      old,
    },
    notes: { machine: ['oauthPublicClient', 'oauthGrantType'] },
  },
  {
    client: 'codex',
    file: 'codex.toml',
    servers: {
      files: {
        ...inFolder,
        env: { MODE: 'fast' },
        inheritEnv: ['API_TOKEN'],
        connectTimeoutMs: 20_000,
        callTimeoutMs: 90_500,
        includeTools: ['read', 'list'],
        excludeTools: ['write'],
      },
      web: {
        ...web,
        headers: { 'X-Version': '1', 'X-Team': `\${TEAM}`, Authorization: `Bearer \${WEB_TOKEN}` },
        connectTimeoutMs: 15_000,
      },
      tracker: signedIn({
        clientId: 'abc',
        redirectUri: 'http://127.0.0.1:4321/callback/v8c-nTZpj6jF',
        scopes,
      }),
      off,
      'remote-env': { type: 'stdio', command: 'node', inheritEnv: ['TOKEN', 'HOME_URL'] },
    },
    skipped: ['refused'],
    notes: {
      files: ['default_tools_approval_mode', 'required', 'tools'],
      web: ['scopes'],
      tracker: ['oauth_resource'],
      'remote-env': ['Codex reads the variable TOKEN from the remote machine'],
    },
  },
  {
    client: 'opencode',
    file: 'opencode.jsonc',
    servers: {
      files: { ...inFolder, connectTimeoutMs: 8_000, excludeTools: ['write'] },
      web,
      tracker: signedIn({
        clientId: '${TRACKER_CLIENT}',
        clientSecret,
        scopes,
        redirectUri: 'http://127.0.0.1:19999/mcp/oauth/callback',
      }),
      open: { ...http('open'), auth: { type: 'none' } },
      off,
    },
    skipped: ['secret-file', 'org-default'],
    notes: { web: ['oauth', 'web_*: false'] },
  },
  {
    client: 'opencode',
    file: 'opencode-second.jsonc',
    servers: {
      files: { ...inFolder, connectTimeoutMs: 8_000, callTimeoutMs: 30_000 },
      web,
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        scopes: ['issues:read'],
        redirectUri: 'http://127.0.0.1:8976/callback',
      }),
      off,
    },
  },
  {
    client: 'windsurf',
    file: 'windsurf.json',
    servers: { ...usual, files: { ...files, excludeTools: ['write'] }, plain: http('plain') },
  },
  {
    client: 'zed',
    file: 'zed.jsonc',
    servers: { files: literal, nested: { ...node('nested.js'), env: { A: '1' } }, web: literalWeb, off },
    skipped: ['from-extension'],
    notes: { nested: ['settings'] },
  },
  {
    client: 'goose',
    file: 'goose.yaml',
    servers: {
      files: { ...files, env: secretEnv, callTimeoutMs: 300_000 },
      web: { ...web, includeTools: ['search'] },
      old,
      off,
    },
    skipped: ['developer'],
    notes: { files: ['API_TOKEN'] },
  },
  {
    client: 'gemini',
    file: 'gemini.json',
    servers: {
      files: { ...inFolder, callTimeoutMs: 30_000, includeTools: ['read', 'list'], excludeTools: ['write'] },
      web,
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        authUrl: 'https://login.example.com/authorize',
        tokenUrl: 'https://login.example.com/token',
        redirectUri: 'http://localhost:7777/oauth/callback',
        scopes,
      }),
      cloud: signedIn({ scopes: ['https://www.example.com/auth/email'] }, 'cloud'),
      old,
      typed: http('typed'),
      off,
      unlisted: { ...node('unlisted.js'), enabled: false },
    },
    notes: {
      files: ['trust'],
      tracker: ['oauth.audiences'],
      cloud: ['authProviderType'],
      off: ['mcp.excluded'],
      unlisted: ['mcp.allowed'],
    },
  },
  { client: 'antigravity', file: 'antigravity.json', servers: { ...usual, files: inFolder } },
  {
    client: 'cline',
    file: 'cline.json',
    servers: {
      ...usual,
      files: { ...inFolder, callTimeoutMs: 60_000 },
      tracker: signedIn({ clientId: 'abc', clientSecret: 'literal' }),
      old,
    },
    notes: { files: ['read, list (autoApprove)'], tracker: ['not imported: oauth (sign-in)'] },
  },
  {
    client: 'kiro',
    file: 'kiro.json',
    servers: {
      ...usual,
      files: { ...files, excludeTools: ['write'] },
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        redirectUri: 'http://localhost:7778/oauth/callback',
        scopes: ['issues:read'],
      }),
      short: http('short'),
    },
    notes: { files: ['read (autoApprove)'], short: ['oauth.redirectUri (sign-in)'] },
  },
  {
    client: 'continue',
    file: 'continue.yaml',
    servers: { files: { ...inFolder, env: secretEnv, connectTimeoutMs: 20_000 }, web: secretWeb, old },
    skipped: ['mcpServers[3]'],
    notes: { web: ['requestOptions'] },
  },
  { client: 'lm-studio', file: 'lm-studio.json', servers: { files, web, more: node() } },
  { client: 'amp', file: 'amp.json', servers: { files: { ...files, includeTools: ['read'] }, web } },
  {
    client: 'crush',
    file: 'crush.json',
    servers: {
      ...usual,
      files: { ...files, connectTimeoutMs: 120_000, excludeTools: ['write'] },
      tracker: signedIn({ clientId: 'abc', clientSecret, redirectUri: 'http://localhost:8976/callback' }),
      old,
    },
    skipped: ['computed'],
  },
  { client: 'factory', file: 'factory.json', servers: { ...usual, old } },
  { client: 'kimi', file: 'kimi.json', servers: { ...usual, tracker: signedIn(), old } },
  { client: 'trae', file: 'trae.json', servers: usual },
  { client: 'qoder', file: 'qoder.json', servers: { ...usual, old } },
  {
    client: 'vibe',
    file: 'vibe.toml',
    servers: {
      files: { ...literal, connectTimeoutMs: 15_000, callTimeoutMs: 120_000 },
      web: { ...web, headers: { 'X-Version': '1', Authorization: `Bearer \${WEB_TOKEN}` } },
      tracker: signedIn({
        clientId: 'abc',
        redirectUri: 'http://127.0.0.1:47999/callback',
        scopes: ['issues:read'],
      }),
      key: { ...http('key'), headers: { 'X-Key': '${KEY_TOKEN}' } },
      off,
    },
  },
  {
    client: '1mcp',
    file: '1mcp.json',
    servers: {
      ...usual,
      files: { ...inFolder, connectTimeoutMs: 5_000, callTimeoutMs: 30_000 },
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        redirectUri: 'http://localhost:3050/oauth/callback/tracker',
        scopes: ['issues:read'],
      }),
      old,
    },
    notes: { files: ['tags'], tracker: ['oauth.autoRegister'] },
  },
  {
    client: 'mcpproxy',
    file: 'mcpproxy.json',
    servers: {
      files: inFolder,
      web: secretWeb,
      tracker: signedIn({
        clientId: 'abc',
        clientSecret: '${secret:tracker}',
        redirectUri: 'http://127.0.0.1:8976/oauth/callback',
        scopes: ['issues:read'],
      }),
      boxed: { ...node('boxed.js'), sandbox: true },
      contained: node('contained.js'),
      old,
      off,
      held: { ...http('held'), enabled: false },
    },
    notes: {
      tracker: ['oauth.extra_params'],
      boxed: ['different limits'],
      contained: ['isolation (limits on file and network access)'],
      held: ['quarantined'],
    },
  },
  {
    client: 'mcphub',
    file: 'mcphub.json',
    servers: {
      ...usual,
      files: { ...files, excludeTools: ['write'] },
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        authUrl: 'https://login.example.com/authorize',
        tokenUrl: 'https://login.example.com/token',
        scopes: ['issues:read'],
      }),
      old,
    },
    notes: { web: ['owner'], tracker: ['oauth.redirectUri', 'oauth.accessToken'] },
  },
  {
    client: 'mcporter',
    file: 'mcporter.jsonc',
    servers: {
      files: { ...inFolder, includeTools: ['read'] },
      web,
      tracker: signedIn({
        clientId: 'abc',
        clientSecret,
        redirectUri: 'http://127.0.0.1:8976/callback',
        scopes,
      }),
      old: { ...old, description: 'The old one' },
    },
    notes: { files: ['lifecycle'], tracker: ['tokenCacheDir'] },
  },
];
