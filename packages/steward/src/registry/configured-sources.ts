/** The registries of the configuration: those of the settings, or the official one. */
import { dirname, join, resolve } from 'node:path';
import { homeDirectory, type LoadedConfig } from 'turnbuckle/host';
import type { RegistrySource } from './registry-source.js';

const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io';

/** A relative file is beside the user's config file, so that it is the same one in every directory. */
export function configuredSources(
  { settings, layers }: Pick<LoadedConfig, 'settings' | 'layers'>,
  environment: Readonly<Record<string, string | undefined>>,
): readonly RegistrySource[] {
  const userFile = layers.find(({ layer }) => layer.scope === 'user')?.layer.file;
  const directory = userFile === undefined ? homeDirectory(environment) : dirname(userFile);
  const { registries = [{ url: OFFICIAL_REGISTRY }] } = settings.steward ?? {};
  return registries.map((source) => {
    if (!('file' in source)) return source;
    const isInHome = source.file.startsWith('~/');
    return {
      file: isInHome
        ? join(homeDirectory(environment), source.file.slice(2))
        : resolve(directory, source.file),
    };
  });
}
