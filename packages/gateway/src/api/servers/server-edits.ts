/** Edits servers in the file that defines them, then reloads the configuration. */
import { type ConfiguredRuntime, TurnbuckleError } from 'turnbuckle';
import { editServers, type LoadedConfig, type ServerEdit } from 'turnbuckle/host';
import { checkEntry } from './check-entry.js';

type Entry = Readonly<Record<string, unknown>>;
/** Throws if the request is no longer allowed; called right before a file is written. */
type Confirm = () => void;

/** The user's own files. Files of a project or an administrator cannot be changed remotely. */
const WRITABLE: ReadonlySet<string> = new Set(['user', 'environment', 'flags']);

export class ServerEdits {
  readonly #configured: ConfiguredRuntime;
  readonly #onChanged: () => void;

  constructor(configured: ConfiguredRuntime, onChanged: () => void) {
    this.#configured = configured;
    this.#onChanged = onChanged;
  }

  /** Adds it to the user's file; returns the path. NAME_TAKEN also for a name in another file, which it would hide. */
  async add(name: string, entry: Entry, confirm: Confirm): Promise<string> {
    const config = this.#configured.config();
    // The host may have added servers that no file has.
    if (config.servers.has(name) || this.#configured.runtime.serverNames().includes(name))
      throw new TurnbuckleError('NAME_TAKEN', `Server "${name}" already exists.`, {
        server: name,
        hint: 'Choose another name, or change the existing server.',
      });
    await checkEntry(name, entry);
    return this.#edit(userFile(config), [{ action: 'add', name, config: entry }], confirm);
  }

  /** Sets keys of the entry; null removes one. */
  async update(name: string, changes: Entry, confirm: Confirm): Promise<string> {
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
    const deciding = fileOf(name, config, setsEnabled);
    if (deciding === file) return this.#edit(file, [...edits, switching], confirm);
    await editServers(deciding, [switching], { confirm });
    return this.#edit(file, edits, confirm);
  }

  /** In the file with the highest precedence that sets whether it is enabled. */
  setEnabled(name: string, enabled: boolean, confirm: Confirm): Promise<string> {
    const file = fileOf(name, this.#configured.config(), setsEnabled);
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

const setsEnabled = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && ('enabled' in entry || 'disabled' in entry);

function userFile({ layers }: LoadedConfig): string {
  const found = layers.find(({ layer }) => layer.scope === 'user');
  if (found !== undefined) return found.layer.file;
  throw new TurnbuckleError('CONFIG_INVALID', 'There is no user config file to write to.', {
    hint: 'Set HOME and restart the daemon.',
  });
}

/**
 * The file with the highest precedence whose entry `speaks` about it, otherwise the one that defines the server;
 * CONFIG_INVALID if it may not be changed.
 */
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
    `Server "${name}" is defined in ${found?.layer.file ?? own ?? 'the host program'} and cannot be changed through the API.`,
    { server: name, hint: 'Show where each server is defined: GET /api/config.' },
  );
}
