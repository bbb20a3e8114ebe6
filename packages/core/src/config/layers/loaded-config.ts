/** What came of reading all layers: the servers with their origins, the settings, and all that is wrong. */
import type { TurnbuckleError } from '../errors.js';
import type { FileSettings, InputDeclaration, SettingName } from './file-schema.js';
import type { LayerScope } from './layers.js';
import type { ParsedServers } from './parse.js';
import type { ReadLayer } from './read-layer.js';
import type { PlacedRule } from './rule-schema.js';
import type { ServerConfig } from './schema.js';

export interface Origin {
  readonly scope: LayerScope;
  /** The file, or in words what else said it. */
  readonly file: string;
  /** Both from 1; 0 where there is no file. */
  readonly line: number;
  readonly column: number;
}

export interface ConfiguredServer {
  readonly name: string;
  /** As written: placeholders are not filled in. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly config: ServerConfig | undefined;
  readonly origin: Origin;
  /** Where it is written too, without effect; the strongest first. */
  readonly shadowed: readonly Origin[];
  /** Why it is not used, or with `kept`: why not as it is written now. */
  readonly problem: TurnbuckleError | undefined;
  /** Its entry has become unusable: all but `problem` is what was in effect before, and still is. */
  readonly kept: boolean;
  /** The directory that its relative paths mean. */
  readonly directory: string;
  /** The inputs that its own file declares: another file has no say in them. */
  readonly inputs: readonly InputDeclaration[];
}

export interface LoadedConfig {
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  readonly settings: Readonly<Partial<FileSettings>>;
  readonly settingOrigins: ReadonlyMap<SettingName, Origin>;
  /** The rules of all files, in the order in which they are asked: the strongest file first, projects last. */
  readonly rules: readonly PlacedRule[];
  /** Problems of files and settings; those of servers are with them. */
  readonly problems: readonly TurnbuckleError[];
  readonly layers: readonly ReadLayer[];
  /** What a runtime takes: the servers that can be used, and what is wrong with the others. */
  readonly parsed: ParsedServers;
}

/** In effect now, as it is written or as it was before. */
export const isUsable = ({ config, problem, kept }: ConfiguredServer): boolean =>
  config !== undefined && (problem === undefined || kept);

/** The files say the same, and the same servers may be used: there is nothing to take over. */
export function isSameConfig(left: LoadedConfig, right: LoadedConfig): boolean {
  const tell = ({ layers, servers }: LoadedConfig): string =>
    JSON.stringify([
      layers.map(({ layer, fingerprint }) => [layer.file, fingerprint]),
      [...servers.values()].map(({ name, problem, kept }) => [name, problem?.message, kept]),
    ]);
  return tell(left) === tell(right);
}
