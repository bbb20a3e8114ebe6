/** The wrappers we know: from their command line to the remote server behind them. */
import type { ServerDraft } from './imported-server.js';
import type { LaunchedProgram } from './launched-program.js';

type Env = Readonly<Record<string, string>>;
interface Remote {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly excludeTools?: readonly string[];
  /** Variables that the wrapper read itself. */
  readonly used: readonly string[];
}
type Reader = (args: readonly string[], env: Env) => Remote | undefined;
/** By the name of the program, without its version. */
export declare const WRAPPERS: ReadonlyMap<string, Reader>;
/** The remote server behind a wrapper; undefined when anything about it is unsure. */
export declare function remoteBehind(
  program: LaunchedProgram,
  env: Env,
):
  | {
      config: ServerDraft;
      notes: string[];
    }
  | undefined;
