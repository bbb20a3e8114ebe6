/** Clients whose entries are the usual ones; they differ in where the file is and in a few keys. */
import type { Client } from '../client.js';
import type { Dialect } from '../dialect.js';
import {
  ANY_STYLE,
  DOLLAR_STYLE,
  editorStyle,
  NO_PLACEHOLDERS,
  SHELL_STYLE,
} from '../entries/placeholder-styles.js';

/** `mcpServers`, told apart by `command` and `url`, with `disabled`. */
const standardDialect: Dialect = {
  container: ['mcpServers'],
  style: ANY_STYLE,
  transports: { stdio: '', http: '' },
  switchKey: 'disabled',
};

/** The same with a `type` that names the remote transports. */
const typedDialect: Dialect = {
  ...standardDialect,
  typeKey: 'type',
  transports: { stdio: '', http: 'http', sse: 'sse' },
};

export const claudeDesktop: Client = {
  id: 'claude-desktop',
  label: 'Claude Desktop',
  format: 'json',
  candidates: (at) => {
    const found = [at.appData('Claude', 'claude_desktop_config.json')];
    // The folder's name is written in both ways on Linux.
    if (at.machine.platform === 'linux') found.push(at.appData('claude', 'claude_desktop_config.json'));
    return found;
  },
  dialect: { container: ['mcpServers'], style: NO_PLACEHOLDERS, transports: { stdio: '' } },
};

export const cursor: Client = {
  id: 'cursor',
  label: 'Cursor',
  format: 'json',
  candidates: (at) => [
    at.project('.cursor', 'mcp.json'),
    at.home('.cursor', 'mcp.json'),
    at.appData('Cursor', 'User', 'mcp.json'),
  ],
  dialect: {
    container: ['mcpServers'],
    style: editorStyle({ folders: true, inputs: false }),
    transports: { stdio: '', http: '' },
    oauth: {
      keys: { clientId: 'auth.CLIENT_ID', clientSecret: 'auth.CLIENT_SECRET', scopes: 'auth.scopes' },
    },
  },
};

export const windsurf: Client = {
  id: 'windsurf',
  label: 'Windsurf',
  format: 'json',
  candidates: (at) => [
    at.home('.codeium', 'windsurf', 'mcp_config.json'),
    at.home('.codeium', 'windsurf-next', 'mcp_config.json'),
    at.home('.codeium', 'mcp_config.json'),
  ],
  dialect: {
    ...standardDialect,
    style: editorStyle({ folders: false, inputs: false }),
    keys: { url: 'serverUrl', excludeTools: 'disabledTools' },
  },
};

export const cline: Client = {
  id: 'cline',
  label: 'Cline',
  format: 'json',
  candidates: (at) => {
    const editors = ['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'];
    const inEditor = (editor: string, extension: string, file: string) =>
      at.appData(editor, 'User', 'globalStorage', extension, 'settings', file);
    return editors.flatMap((editor) => [
      inEditor(editor, 'saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
      // Roo Code is discontinued, but its files are still there.
      inEditor(editor, 'rooveterinaryinc.roo-cline', 'mcp_settings.json'),
    ]);
  },
  dialect: {
    ...standardDialect,
    typeKey: 'type',
    transports: { stdio: '', http: 'streamableHttp', sse: 'sse' },
    keys: { cwd: 'cwd' },
    timeouts: [{ key: 'timeout', unit: 's', to: 'callTimeoutMs' }],
    // `oauth` is the state of a sign-in, not a setting.
    oauth: { keys: { clientId: 'oauthClient.clientId', clientSecret: 'oauthClient.clientSecret' } },
  },
};

export const kiro: Client = {
  id: 'kiro',
  label: 'Kiro',
  format: 'json',
  candidates: (at) => [at.project('.kiro', 'settings', 'mcp.json'), at.home('.kiro', 'settings', 'mcp.json')],
  dialect: {
    ...standardDialect,
    style: SHELL_STYLE,
    keys: { excludeTools: 'disabledTools' },
    oauth: {
      keys: {
        clientId: 'oauth.clientId',
        clientSecret: 'oauth.clientSecret',
        redirectUri: 'oauth.redirectUri',
        scopes: 'oauthScopes',
      },
    },
  },
};

export const lmStudio: Client = {
  id: 'lm-studio',
  label: 'LM Studio',
  format: 'json',
  candidates: (at) => [at.home('.lmstudio', 'mcp.json'), at.home('.cache', 'lm-studio', 'mcp.json')],
  dialect: { container: ['mcpServers'], style: ANY_STYLE, transports: { stdio: '', http: '' } },
};

export const amp: Client = {
  id: 'amp',
  label: 'Amp',
  format: 'json',
  candidates: (at) => [at.project('.amp', 'settings.json'), at.config('amp', 'settings.json')],
  dialect: {
    container: ['amp.mcpServers'],
    alternativeContainers: [['amp', 'mcpServers']],
    style: SHELL_STYLE,
    transports: { stdio: '', http: '' },
    keys: { includeTools: 'includeTools' },
  },
};

export const crush: Client = {
  id: 'crush',
  label: 'Crush',
  format: 'json',
  candidates: (at) => [at.project('.crush.json'), at.project('crush.json'), at.config('crush', 'crush.json')],
  dialect: {
    container: ['mcp'],
    style: DOLLAR_STYLE,
    typeKey: 'type',
    transports: { stdio: 'stdio', http: 'http', sse: 'sse' },
    keys: { excludeTools: 'disabled_tools' },
    timeouts: [{ key: 'timeout', unit: 's', to: 'connectTimeoutMs' }],
    oauth: {
      keys: { clientId: 'oauth_client_id', clientSecret: 'oauth_client_secret' },
      port: { key: 'oauth_callback_port', uri: (port) => `http://localhost:${port}/callback` },
      on: { key: 'oauth', value: true },
      off: { key: 'oauth', value: false },
    },
    switchKey: 'disabled',
  },
};

export const factory: Client = {
  id: 'factory',
  label: 'Factory',
  format: 'json',
  candidates: (at) => [at.project('.factory', 'mcp.json'), at.home('.factory', 'mcp.json')],
  dialect: { ...typedDialect, transports: { stdio: 'stdio', http: 'http', sse: 'sse' } },
};

export const kimi: Client = {
  id: 'kimi',
  label: 'Kimi',
  format: 'json',
  candidates: (at) => [at.home('.kimi', 'mcp.json')],
  // Its loader takes the transport's name from `transport`.
  dialect: {
    ...typedDialect,
    typeKey: 'transport',
    oauth: { keys: {}, on: { key: 'auth', value: 'oauth' } },
  },
};

export const trae: Client = {
  id: 'trae',
  label: 'Trae',
  format: 'json',
  candidates: (at) => [at.project('.trae', 'mcp.json'), at.appData('Trae', 'User', 'mcp.json')],
  dialect: standardDialect,
};

export const qoder: Client = {
  id: 'qoder',
  label: 'Qoder',
  format: 'json',
  candidates: (at) => [at.home('.qoder', 'mcp.json')],
  dialect: typedDialect,
};
