/** Changes of servers in the configuration: written into the file that says it, then in effect. */
import {
  type ConfiguredRuntime,
  editServers,
  type LoadedConfig,
  type ServerEdit,
  TurnbuckleError,
} from 'turnbuckle';
import { checkEntry } from './check-entry.js';

type Entry = Readonly<Record<string, unknown>>;
/** Throws where who asks may not any more; called right before a file is written, when the turn has come. */
type Confirm = () => void;

/** The user's own files. What a project or an administrator wrote is not changed from afar. */
const WRITABLE: ReadonlySet<string> = new Set(['user', 'environment', 'flags']);

export class ServerEdits {
  readonly #configured: ConfiguredRuntime;
  readonly #onChanged: () => void;

  constructor(configured: ConfiguredRuntime, onChanged: () => void) {
    this.#configured = configured;
    this.#onChanged = onChanged;
  }

  /** Into the user's file; answers its path. NAME_TAKEN also for a name of another file, which would hide it. */
  async add(name: string, entry: Entry, confirm: Confirm): Promise<string> {
    const config = this.#configured.config();
    if (config.servers.has(name))
      throw new TurnbuckleError('NAME_TAKEN', `There is a server "${name}" already.`, {
        server: name,
        hint: 'Choose another name, or change the server that is there.',
      });
    await checkEntry(name, entry);
    return this.#edit(userFile(config), [{ action: 'add', name, config: entry }], confirm);
  }

  /** Sets keys of the entry; null takes one out. */
  async adjust(name: string, changes: Entry, confirm: Confirm): Promise<string> {
    const config = this.#configured.config();
    const file = fileOf(name, config, () => true);
    const written = Object.entries({ ...config.servers.get(name)?.entry, ...changes });
    await checkEntry(name, Object.fromEntries(written.filter(([, value]) => value !== null)));
    const edits = Object.entries(changes)
      .filter(([key, value]) => key !== 'enabled' || value === null)
      .map(
        ([key, value]): ServerEdit => ({ action: 'set-key', name, key: [key], value: value ?? undefined }),
      );
    const { enabled } = changes;
    if (typeof enabled !== 'boolean') return this.#edit(file, edits, confirm);
    const switching: ServerEdit = { action: enabled ? 'enable' : 'disable', name };
    const deciding = fileOf(name, config, hasSwitch);
    if (deciding === file) return this.#edit(file, [...edits, switching], confirm);
    await editServers(deciding, [switching], { confirm });
    return this.#edit(file, edits, confirm);
  }

  /** In the strongest file that says whether it is on. */
  switch(name: string, enabled: boolean, confirm: Confirm): Promise<string> {
    const file = fileOf(name, this.#configured.config(), hasSwitch);
    return this.#edit(file, [{ action: enabled ? 'enable' : 'disable', name }], confirm);
  }

  remove(name: string, confirm: Confirm): Promise<string> {
    const file = fileOf(name, this.#configured.config(), () => true);
    return this.#edit(file, [{ action: 'remove', name }], confirm);
  }

  async #edit(file: string, edits: readonly ServerEdit[], confirm: Confirm): Promise<string> {
    if (edits.length > 0) await editServers(file, edits, { confirm });
    await this.#configured.reload();
    this.#onChanged();
    return file;
  }
}

const hasSwitch = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && ('enabled' in entry || 'disabled' in entry);

function userFile({ layers }: LoadedConfig): string {
  const found = layers.find(({ layer }) => layer.scope === 'user');
  if (found !== undefined) return found.layer.file;
  throw new TurnbuckleError('CONFIG_INVALID', 'There is no file of the user to write to.', {
    hint: 'Start the daemon with a home directory.',
  });
}

/** The strongest file with an entry that `speaks` about it, else the one in which it stands; CONFIG_INVALID when it may not be written. */
function fileOf(
  name: string,
  { layers, servers }: LoadedConfig,
  speaks: (entry: unknown) => boolean,
): string {
  const own = servers.get(name)?.origin.file;
  const having = layers.filter(({ servers: written }) => written.some((server) => server.name === name));
  const speaking = having.filter(({ servers: written }) =>
    written.some((server) => server.name === name && speaks(server.entry)),
  );
  const found = speaking.at(-1) ?? having.find(({ layer }) => layer.file === own);
  if (found !== undefined && WRITABLE.has(found.layer.scope)) return found.layer.file;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${name}" comes from ${found?.layer.file ?? own ?? 'the program itself'} and cannot be changed here.`,
    { server: name, hint: 'GET /api/config shows where each server comes from.' },
  );
}
