/** The entry for the daemon in the configuration of an agent: URL and token, or a command. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Client } from '../imports/client.js';
import type { ServerDraft } from '../imports/index.js';
import { ownCommand, ownFile } from '../terminal/own-command.js';

/** The name under which the agent has it. */
export const ENTRY_NAME = 'turnbuckle';

export interface EntryOptions {
  readonly url: string;
  readonly token: string;
  readonly view: string | undefined;
}

export const httpEntry = ({ url, token, view }: EntryOptions): ServerDraft => ({
  type: 'http',
  url: `${url}/mcp${view === undefined ? '' : `/${view}`}`,
  headers: { Authorization: `Bearer ${token}` },
});

export interface CommandEntryOptions {
  /** Whom the agent is taken for in rules, approvals and the log. */
  readonly id: string;
  readonly view: string | undefined;
  readonly path: string | undefined;
}

/** By name where that is this program; by its files otherwise, which every agent finds, whatever its PATH. */
export function stdioEntry({ id, view, path = '' }: CommandEntryOptions): ServerDraft {
  const args = ['serve', '--stdio', '--as', id, ...(view === undefined ? [] : ['--view', view])];
  const isKnown = findOnPath('turnbuckle', path) === ownFile();
  return { type: 'stdio', ...(isKnown ? { command: 'turnbuckle', args } : ownCommand(...args)) };
}

/** Some know servers by command only. */
export const supportsHttp = ({ dialect }: Client): boolean => dialect.transports.http !== undefined;

function findOnPath(name: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    // npx and npm run put a folder there for as long as they run.
    if (folder.includes('node_modules')) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return realpathSync(file);
    } catch {
      // Not there.
    }
  }
  return undefined;
}
