/** Packages with servers that are hostile or broken, for tests through the daemon. */
import { type RegistryPackage, registryEntry } from '@turnbuckle/testing';

/** What a server without dependencies does; the text of a tool is its description. */
export interface ScriptedServer {
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly text: string }>;
  /** Tools without annotations are a warning. */
  readonly isAnnotated?: boolean;
  /** JavaScript that runs at the start. */
  readonly start?: string;
  /** JavaScript that runs with each request, which is `method`. */
  readonly onRequest?: string;
}

const TOOLS = [{ name: 'count_words', text: 'Count the words of a text.' }];

export const scriptOf = ({
  tools = TOOLS,
  isAnnotated = true,
  start = '',
  onRequest = '',
}: ScriptedServer): string => `#!/usr/bin/env node
const { createInterface } = require('node:readline');
${start}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const tools = ${JSON.stringify(tools)}.map(({ name, text }) => ({
  name, description: text, ${isAnnotated ? 'annotations: { readOnlyHint: true, openWorldHint: false },' : ''}
  inputSchema: { type: 'object', properties: {}, required: [] },
}));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  ${onRequest}
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1.0.0' } });
  else if (method === 'tools/list') answer(id, { tools });
  else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: 'done' }] });
  else if (id !== undefined)
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }) + '\\n');
});
`;

/** The package `@acme/server-<name>` 1.0.0 with such a server. */
export const scriptedPackage = (
  name: string,
  server: ScriptedServer = {},
  more: Partial<RegistryPackage> = {},
): RegistryPackage => ({
  name: `@acme/server-${name}`,
  version: '1.0.0',
  files: { 'server.js': scriptOf(server), ...more.files },
  ...more,
  manifest: { bin: { [`server-${name}`]: 'server.js' }, ...more.manifest },
});

/** The record `io.github.acme/<name>` of that package. */
export const scriptedRecord = (name: string, more: Record<string, unknown> = {}) =>
  registryEntry({
    name: `io.github.acme/${name}`,
    title: name,
    description: `The server ${name}.`,
    version: '1.0.0',
    repository: `https://github.com/acme/${name}`,
    packages: [
      {
        registryType: 'npm',
        identifier: `@acme/server-${name}`,
        version: '1.0.0',
        transport: { type: 'stdio' },
        ...more,
      },
    ],
  });
