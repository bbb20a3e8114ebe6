import { type LoadedConfig } from 'turnbuckle';
import type { CommandContext } from './command.js';

type WritableScope = 'user' | 'project' | 'local';
/** The file of the scope that was asked for, or undefined when none was. */
export declare function fileOfFlag({ flags }: CommandContext, config: LoadedConfig): string | undefined;
/** The file of a scope; a project that has none yet gets it in the current directory. */
export declare function fileOfScope(scope: WritableScope, { layers }: LoadedConfig): string;
/** The file that a server stands in, if it is one that may be written. */
export declare function fileOfServer(name: string, config: LoadedConfig): string;
