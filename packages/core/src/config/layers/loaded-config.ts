/** The result of reading all layers: servers with their origins, settings, and all problems. */
import type { TurnbuckleError } from '../../errors.js';
import type { FileSettings, InputDeclaration, SettingName } from '../schema/file-schema.js';
import type { PlacedRule } from '../schema/rule-schema.js';
import type { ServerConfig } from '../schema/schema.js';
import type { LayerScope } from './layers.js';
import type { ParsedServers } from './parse.js';
import type { ReadLayer } from './read-layer.js';

export interface Origin {
  readonly scope: LayerScope;
  /** The file, or a description of another source. */
  readonly file: string;
  /** Both from 1; 0 without a file. */
  readonly line: number;
  readonly column: number;
}

export interface ConfiguredServer {
  readonly name: string;
  /** As written, with unexpanded placeholders. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly config: ServerConfig | undefined;
  readonly origin: Origin;
  /** Other places that define it, without effect; highest precedence first. */
  readonly shadowed: readonly Origin[];
  /** Why it is not used, or with `kept`: why its current entry is not used. */
  readonly problem: TurnbuckleError | undefined;
  /** Its entry became invalid: everything but `problem` is from before and still in effect. */
  readonly kept: boolean;
  /** The base directory of its relative paths. */
  readonly directory: string;
  /** The inputs that its own file declares; other files cannot change them. */
  readonly inputs: readonly InputDeclaration[];
}

export interface LoadedConfig {
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  readonly settings: Readonly<Partial<FileSettings>>;
  readonly settingOrigins: ReadonlyMap<SettingName, Origin>;
  /** The rules of all files in order of evaluation: highest precedence first, projects last. */
  readonly rules: readonly PlacedRule[];
  /** Problems of files and settings; those of servers are stored with them. */
  readonly problems: readonly TurnbuckleError[];
  readonly layers: readonly ReadLayer[];
  /** For a runtime: the usable servers, and the problems of the others. */
  readonly parsed: ParsedServers;
}

/** In effect, from its current or its previous entry. */
export const isUsable = ({ config, problem, kept }: ConfiguredServer): boolean =>
  config !== undefined && (problem === undefined || kept);

/** The files and the usable servers are the same: there is nothing to apply. */
export function isSameConfig(left: LoadedConfig, right: LoadedConfig): boolean {
  const tell = ({ layers, servers }: LoadedConfig): string =>
    JSON.stringify([
      layers.map(({ layer, fingerprint }) => [layer.file, fingerprint]),
      [...servers.values()].map(({ name, problem, kept }) => [name, problem?.message, kept]),
    ]);
  return tell(left) === tell(right);
}
