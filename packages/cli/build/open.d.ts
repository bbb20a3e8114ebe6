/** A runtime for one command: the configuration in effect, nothing started, everything ended with it. */
import { type ConfiguredOptions, type ConfiguredRuntime, type LoadedConfig } from 'turnbuckle';
import type { CommandContext } from './command.js';
/** Where to look for configuration, from the flags and the environment. */
export declare function configurationOptions({
  flags,
  environment,
  output,
}: CommandContext): ConfiguredOptions;
export declare const loadCommandConfig: (context: CommandContext) => Promise<LoadedConfig>;
/** Runs the work with a runtime and closes it, also when interrupted. */
export declare function withRuntime<T>(
  context: CommandContext,
  work: (configured: ConfiguredRuntime) => Promise<T>,
): Promise<T>;
/** Words as a shell would see them, without ever asking a shell: quotes group, a backslash escapes. */
export declare function splitWords(text: string): string[];
