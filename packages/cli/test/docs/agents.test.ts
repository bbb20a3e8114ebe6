import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENTS, agentAt } from '../../src/daemon/agent-clients.js';
import { byAddress, ENTRY_NAME, takesAddresses } from '../../src/daemon/agent-entry.js';
import { writeClientConfig } from '../../src/imports/index.js';
import { readText, root, rowsOf } from './repository.js';

const PLACE = { platform: 'linux', home: '~', env: {}, cwd: '.' } as const;

describe('the pages of docs/agents', () => {
  it('are one for each agent', () => {
    const pages = readdirSync(join(root, 'docs/agents')).sort();
    expect(pages).toEqual(['README.md', ...AGENTS.map(({ id }) => `${id}.md`)].sort());
  });

  it.each(AGENTS.map((client) => [client.id, client] as const))(
    'show what is written for %s',
    (id, client) => {
      const page = readText(`docs/agents/${id}.md`);
      const { file } = agentAt(client, PLACE);
      const config = takesAddresses(client)
        ? byAddress({ url: 'http://127.0.0.1:7420', token: 'tbk_…', view: undefined })
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
  it('has all of them, and their files', () => {
    const rows = rowsOf(readText('docs/daemon.md'), ['agent', 'command', 'file']);
    expect(rows).toEqual(
      AGENTS.map((client) => [
        `[${client.label}](agents/${client.id}.md)`,
        `\`turnbuckle setup ${client.id}\``,
        `\`${agentAt(client, PLACE).file}\``,
      ]),
    );
  });
});
