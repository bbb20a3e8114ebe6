/** Records of a small MCP registry, in the form of its API (v0.1): typical ones, old versions, and imitations. */

export interface RegistryEntry {
  readonly server: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  readonly _meta: Readonly<Record<string, unknown>>;
}

interface Facts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version?: string;
  readonly repository?: string;
  readonly packages?: readonly unknown[];
  readonly remotes?: readonly unknown[];
  readonly status?: 'active' | 'deprecated' | 'deleted';
  readonly isLatest?: boolean;
  readonly publishedAt?: string;
  readonly updatedAt?: string;
  readonly stars?: number;
  readonly keywords?: readonly string[];
}

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** One entry of the list, with the metadata that a registry adds. */
export function registryEntry(facts: Facts): RegistryEntry {
  const { name, title, description, version = '1.0.0', repository, packages, remotes } = facts;
  const { status = 'active', isLatest = true, publishedAt = '2025-09-20T08:00:00Z', stars, keywords } = facts;
  return {
    server: {
      $schema: SCHEMA,
      name,
      title,
      description,
      version,
      ...(repository !== undefined && { repository: { url: repository, source: 'github' } }),
      ...(packages !== undefined && { packages }),
      ...(remotes !== undefined && { remotes }),
      ...(keywords !== undefined && {
        _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { keywords } },
      }),
    },
    _meta: {
      'io.modelcontextprotocol.registry/official': {
        status,
        publishedAt,
        updatedAt: facts.updatedAt ?? publishedAt,
        isLatest,
      },
      ...(stars !== undefined && { 'com.example.registry/popularity': { stars } }),
    },
  };
}

const stdio = { type: 'stdio' };
const secret = (name: string, description: string) => ({
  name,
  description,
  isRequired: true,
  isSecret: true,
});

function npm(identifier: string, more: Readonly<Record<string, unknown>> = {}) {
  return { registryType: 'npm', identifier, version: '1.0.0', runtimeHint: 'npx', transport: stdio, ...more };
}
function pypi(identifier: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    registryType: 'pypi',
    identifier,
    version: '1.0.0',
    runtimeHint: 'uvx',
    transport: stdio,
    ...more,
  };
}
const oci = (identifier: string, more: Readonly<Record<string, unknown>> = {}) => ({
  registryType: 'oci',
  identifier,
  transport: stdio,
  ...more,
});
const remote = (url: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'streamable-http',
  url,
  ...more,
});
const bearer = {
  headers: [
    {
      name: 'Authorization',
      value: 'Bearer {token}',
      isRequired: true,
      isSecret: true,
      variables: { token: { description: 'A key of the service', isRequired: true, isSecret: true } },
    },
  ],
};
const REFERENCE = 'https://github.com/modelcontextprotocol/servers';

const FILES: readonly RegistryEntry[] = [
  registryEntry({
    name: 'io.github.modelcontextprotocol/server-filesystem',
    title: 'Filesystem',
    description: 'Read, write and search files in the directories that you allow',
    repository: REFERENCE,
    stars: 71_000,
    packages: [
      npm('@modelcontextprotocol/server-filesystem', {
        packageArguments: [
          {
            type: 'positional',
            valueHint: 'directory',
            format: 'filepath',
            isRequired: true,
            isRepeated: true,
          },
        ],
      }),
    ],
  }),
  registryEntry({
    name: 'io.github.modelcontextprotocl/server-filesystem',
    title: 'Filesystem',
    description: 'Read, write and search files in the directories that you allow',
    repository: 'https://github.com/modelcontextprotocl/servers',
    packages: [npm('@modelcontextprotocl/server-filesystem')],
  }),
  registryEntry({
    name: 'io.github.cloudfan/server-filesystm',
    title: 'Filesystem, fast',
    description: 'Files and directories, faster',
    packages: [npm('server-filesystm')],
  }),
  registryEntry({
    name: 'io.github.haris-musa/excel-mcp-server',
    title: 'Excel',
    description: 'Create, read and modify Excel workbooks without Microsoft Excel',
    repository: 'https://github.com/haris-musa/excel-mcp-server',
    packages: [pypi('excel-mcp-server')],
    stars: 2_900,
  }),
  registryEntry({
    name: 'io.github.xing5/google-sheets',
    title: 'Google Sheets',
    description: 'Read and edit spreadsheets in Google Drive',
    repository: 'https://github.com/xing5/mcp-google-sheets',
    packages: [
      npm('mcp-google-sheets', {
        environmentVariables: [
          { name: 'SERVICE_ACCOUNT_PATH', description: 'Key file', isRequired: true, format: 'filepath' },
        ],
      }),
    ],
  }),
  registryEntry({
    name: 'io.github.labs/pdf-reader',
    title: 'PDF reader',
    description: 'Extract text, tables and pictures from PDF documents',
    repository: 'https://github.com/labs/pdf-reader',
    packages: [npm('@labs/pdf-reader-mcp')],
  }),
  registryEntry({
    name: 'io.github.labs/csv-tools',
    title: 'CSV',
    description: 'Parse, validate and convert CSV data',
    packages: [npm('@labs/csv-tools')],
    keywords: ['table', 'columns'],
  }),
];

const WEB: readonly RegistryEntry[] = [
  registryEntry({
    name: 'com.microsoft/playwright-mcp',
    title: 'Playwright',
    description: 'Automate a browser: open pages, click, type, take screenshots',
    repository: 'https://github.com/microsoft/playwright-mcp',
    stars: 23_000,
    packages: [
      npm('@playwright/mcp', {
        packageArguments: [
          { type: 'named', name: '--browser', choices: ['chrome', 'firefox'], default: 'chrome' },
        ],
      }),
    ],
  }),
  registryEntry({
    name: 'io.github.modelcontextprotocol/server-fetch',
    title: 'Fetch',
    description: 'Fetch a web page and convert it to Markdown',
    repository: REFERENCE,
    stars: 71_000,
    packages: [pypi('mcp-server-fetch')],
  }),
  registryEntry({
    name: 'com.brave/brave-search',
    title: 'Brave Search',
    description: 'Search the web, news, images and videos with the Brave Search API',
    repository: 'https://github.com/brave/brave-search-mcp-server',
    packages: [
      npm('@brave/brave-search-mcp-server', {
        environmentVariables: [secret('BRAVE_API_KEY', 'A key of the Brave Search API')],
      }),
    ],
  }),
  registryEntry({
    name: 'io.github.wanderer/youtube-transcript',
    title: 'YouTube transcripts',
    description: 'Get the transcript of a video',
    repository: 'https://github.com/wanderer/youtube-transcript',
    packages: [npm('mcp-youtube-transcript')],
  }),
];

const DATA: readonly RegistryEntry[] = [
  registryEntry({
    name: 'io.github.crystaldba/postgres-mcp',
    title: 'Postgres MCP Pro',
    description: 'Query a PostgreSQL database and tune its indexes',
    repository: 'https://github.com/crystaldba/postgres-mcp',
    packages: [
      pypi('postgres-mcp', { environmentVariables: [secret('DATABASE_URI', 'Connection string')] }),
      oci('docker.io/crystaldba/postgres-mcp:1.0.0'),
    ],
    stars: 1_600,
  }),
  registryEntry({
    name: 'io.github.neondatabase/mcp-server-neon',
    title: 'Neon',
    description: 'Manage serverless Postgres projects, branches and databases',
    repository: 'https://github.com/neondatabase/mcp-server-neon',
    remotes: [remote('https://mcp.neon.tech/mcp', bearer), { type: 'sse', url: 'https://mcp.neon.tech/sse' }],
  }),
  registryEntry({
    name: 'io.github.modelcontextprotocol/server-sqlite',
    title: 'SQLite',
    description: 'Explore and query a SQLite database',
    repository: REFERENCE,
    packages: [npm('@modelcontextprotocol/server-sqlite')],
  }),
  registryEntry({
    name: 'com.mongodb/mongodb-mcp-server',
    title: 'MongoDB',
    description: 'Query collections and manage Atlas clusters of MongoDB',
    packages: [npm('mongodb-mcp-server')],
  }),
  registryEntry({
    name: 'io.github.redis/mcp-redis',
    title: 'Redis',
    description: 'Natural language interface to keys, streams and vectors in Redis',
    repository: 'https://github.com/redis/mcp-redis',
    packages: [pypi('redis-mcp-server'), oci('docker.io/mcp/redis:latest')],
  }),
];

const WORK: readonly RegistryEntry[] = [
  registryEntry({
    name: 'io.github.github/github-mcp-server',
    title: 'GitHub',
    description: 'Repositories, issues, pull requests and workflows on GitHub',
    repository: 'https://github.com/github/github-mcp-server',
    stars: 24_000,
    packages: [
      oci('ghcr.io/github/github-mcp-server:1.0.0', {
        runtimeHint: 'docker',
        runtimeArguments: [
          {
            type: 'named',
            name: '-e',
            value: 'GITHUB_PERSONAL_ACCESS_TOKEN={token}',
            isRequired: true,
            variables: { token: { isRequired: true, isSecret: true } },
          },
        ],
      }),
    ],
    remotes: [remote('https://api.githubcopilot.com/mcp/', bearer)],
  }),
  registryEntry({
    name: 'com.linear/linear',
    title: 'Linear',
    description: 'Find, create and update issues, projects and comments in Linear',
    remotes: [remote('https://mcp.linear.app/mcp'), { type: 'sse', url: 'https://mcp.linear.app/sse' }],
  }),
  registryEntry({
    name: 'com.atlassian/atlassian-mcp-server',
    title: 'Atlassian',
    description: 'Jira tickets and Confluence pages',
    remotes: [{ type: 'sse', url: 'https://mcp.atlassian.com/v1/sse' }],
  }),
  registryEntry({
    name: 'com.notion/mcp',
    title: 'Notion',
    description: 'Pages, databases and comments of a Notion workspace',
    remotes: [remote('https://mcp.notion.com/mcp')],
  }),
  registryEntry({
    name: 'io.github.korotovsky/slack-mcp-server',
    title: 'Slack',
    description: 'Read channels and post messages in Slack',
    repository: 'https://github.com/korotovsky/slack-mcp-server',
    packages: [
      npm('slack-mcp-server', {
        environmentVariables: [secret('SLACK_MCP_XOXP_TOKEN', 'A token of a user')],
      }),
    ],
  }),
  registryEntry({
    name: 'io.github.postbox/mail',
    title: 'Mail',
    description: 'Read and send email over IMAP and SMTP',
    repository: 'https://github.com/postbox/mail',
    packages: [npm('@postbox/mail-mcp')],
  }),
  registryEntry({
    name: 'io.github.nspady/google-calendar-mcp',
    title: 'Google Calendar',
    description: 'List, create and move events in Google Calendar',
    repository: 'https://github.com/nspady/google-calendar-mcp',
    packages: [npm('@cocal/google-calendar-mcp')],
  }),
  registryEntry({
    name: 'com.stripe/mcp',
    title: 'Stripe',
    description: 'Customers, payments, invoices and refunds',
    remotes: [remote('https://mcp.stripe.com', bearer)],
  }),
];

const OPERATIONS: readonly RegistryEntry[] = [
  registryEntry({
    name: 'io.github.getsentry/sentry-mcp',
    title: 'Sentry',
    description: 'Errors and performance issues of your applications',
    repository: 'https://github.com/getsentry/sentry-mcp',
    remotes: [remote('https://mcp.sentry.dev/mcp')],
  }),
  registryEntry({
    name: 'io.github.containers/kubernetes-mcp-server',
    title: 'Kubernetes',
    description: 'Pods, deployments and logs of Kubernetes and OpenShift clusters',
    repository: 'https://github.com/containers/kubernetes-mcp-server',
    packages: [npm('kubernetes-mcp-server'), oci('quay.io/containers/kubernetes_mcp_server:1.0.0')],
  }),
  registryEntry({
    name: 'io.github.skies/weather',
    title: 'Weather',
    description: 'Current conditions and forecasts for any place',
    repository: 'https://github.com/skies/weather',
    packages: [npm('@skies/weather-mcp', { version: '2.1.0' })],
    version: '2.1.0',
    updatedAt: '2025-11-02T10:00:00Z',
  }),
  registryEntry({
    name: 'io.github.skies/weather',
    title: 'Weather',
    description: 'Current conditions for any place',
    packages: [npm('@skies/weather-mcp', { version: '1.9.0' })],
    version: '1.9.0',
    isLatest: false,
  }),
  registryEntry({
    name: 'io.github.oldsky/weather-classic',
    title: 'Weather, the old one',
    description: 'Weather and forecasts',
    packages: [npm('weather-classic')],
    status: 'deprecated',
  }),
  registryEntry({
    name: 'io.github.gone/weather-free',
    title: 'Weather for free',
    description: 'Weather and forecasts without a key',
    packages: [npm('weather-free')],
    status: 'deleted',
  }),
  registryEntry({
    name: 'io.github.toolbox/desktop-notes',
    title: 'Desktop notes',
    description: 'Take notes on this machine',
    packages: [
      {
        registryType: 'mcpb',
        identifier: 'https://github.com/toolbox/desktop-notes/releases/download/v1.0.0/notes.mcpb',
        fileSha256: 'fe333e598595000ae021bd27117db32ec69af6987f507ba7a63c90638ff633ce',
        transport: stdio,
      },
    ],
  }),
  registryEntry({
    name: 'com.example.dotnet/time-zones',
    title: 'Time zones',
    description: 'Convert times between time zones',
    packages: [
      { registryType: 'nuget', identifier: 'Example.TimeZones', version: '1.0.0', transport: stdio },
    ],
  }),
];

export const REGISTRY_RECORDS: readonly RegistryEntry[] = [...FILES, ...WEB, ...DATA, ...WORK, ...OPERATIONS];
