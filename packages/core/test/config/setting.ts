import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { type ConfiguredOptions, type ConfiguredRuntime, createConfiguredRuntime } from 'turnbuckle';
import { type LoadedConfig, loadConfiguration } from 'turnbuckle/host';
import { onTestFinished } from 'vitest';

/** A home directory, a project in it and a state directory, for one test. */
export interface Setting {
  readonly home: string;
  readonly project: string;
  readonly stateDir: string;
  readonly environment: Record<string, string | undefined>;
  /** Paths of the files that belong to the layers. */
  readonly userFile: string;
  readonly projectFile: string;
  readonly localFile: string;
  /** Writes a file atomically, with its directories; an object as JSON. */
  write(file: string, content: unknown): Promise<string>;
  load(options?: ConfiguredOptions): Promise<LoadedConfig>;
  open(options?: ConfiguredOptions): Promise<ConfiguredRuntime>;
}

export async function createSetting(): Promise<Setting> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const home = directory.path;
  const project = join(home, 'project');
  await mkdir(project);
  const environment = { HOME: home, PATH: process.env.PATH };
  const stateDir = join(home, 'state');
  const own = { cwd: project, environment, stateDir };
  return {
    home,
    project,
    stateDir,
    environment,
    userFile: join(home, '.config', 'turnbuckle', 'mcp.json'),
    projectFile: join(project, '.turnbuckle', 'mcp.json'),
    localFile: join(project, '.turnbuckle', 'mcp.local.json'),
    write: async (file, content) => {
      const path = join(home, file.startsWith(home) ? file.slice(home.length) : file);
      await mkdir(dirname(path), { recursive: true });
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      await writeFile(`${path}.tmp`, isText ? content : JSON.stringify(content));
      await rename(`${path}.tmp`, path);
      return path;
    },
    load: (options) => loadConfiguration({ ...own, ...options }),
    open: async (options) => {
      const configured = await createConfiguredRuntime({ ...own, ...options });
      onTestFinished(() => configured.runtime.close());
      return configured;
    },
  };
}
