import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeClientConfig } from '../../src/imports/index.js';
import { AGENT_CLIENTS, detectAgent } from '../../src/setup/agent-clients.js';
import { ENTRY_NAME, httpEntry, supportsHttp } from '../../src/setup/agent-entry.js';
import { readText, root, rowsOf } from './repository.js';

const PLACE = { platform: 'linux', home: '~', env: {}, cwd: '.' } as const;

describe('the pages of docs/agents', () => {
  it('exist for every agent', () => {
    const pages = readdirSync(join(root, 'docs/agents')).sort();
    expect(pages).toEqual(['README.md', ...AGENT_CLIENTS.map(({ id }) => `${id}.md`)].sort());
  });

  it.each(AGENT_CLIENTS.map((client) => [client.id, client] as const))(
    'show the entry that setup writes for %s',
    (id, client) => {
      const page = readText(`docs/agents/${id}.md`);
      const { file } = detectAgent(client, PLACE);
      const config = supportsHttp(client)
        ? httpEntry({ url: 'http://127.0.0.1:7420', token: 'tbk_…', view: undefined })
        : { type: 'stdio' as const, command: 'turnbuckle', args: ['serve', '--stdio', '--as', id] };
      const { text = '' } = writeClientConfig({ client: id, file }, '', [{ name: ENTRY_NAME, config }]);
      expect(page).toContain(`# ${client.label}\n`);
      expect(page).toContain(`turnbuckle setup ${id} `);
      expect(page).toContain(`\`${file}\``);
      expect(page).toContain(`\`\`\`${client.format}\n${text.trimEnd()}\n\`\`\``);
    },
  );
});

describe('the table of agents in docs/daemon.md', () => {
  it('has every agent and its file', () => {
    const rows = rowsOf(readText('docs/daemon.md'), ['agent', 'command', 'file']);
    expect(rows).toEqual(
      AGENT_CLIENTS.map((client) => [
        `[${client.label}](agents/${client.id}.md)`,
        `\`turnbuckle setup ${client.id}\``,
        `\`${detectAgent(client, PLACE).file}\``,
      ]),
    );
  });
});
