/** Makes the call that a command line names: with the servers of this process, or with those of the daemon. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import {
  type CallableTool,
  completeArguments,
  describeProgress,
  showResult,
  timeoutOf,
  withCallHints,
} from './call-request.js';

export interface NamedTool {
  readonly tool: CallableTool;
  /** The words behind its name. */
  readonly rest: readonly string[];
  /** The tool is in no list: the error to show if the call fails with the same code. */
  readonly unknownError?: TurnbuckleError;
}

/** Where a call is made. */
export interface CallTarget extends Pick<Runtime, 'callTool'> {
  /** The tool that the command line names. */
  readonly findTool: () => Promise<NamedTool>;
  /** Whether the server may ask the person a question during the call. */
  readonly mayElicit: (server: string) => boolean | Promise<boolean>;
  /** Whether such a question reaches this terminal. */
  readonly canElicit: boolean;
}

/** Resolves with the exit code; with undefined when only a call by this process can ask the person. */
export async function makeCall(context: CommandContext, target: CallTarget): Promise<number | undefined> {
  const { output, signal } = context;
  const { tool, rest, unknownError } = await target.findTool();
  const mayElicit = output.interactive && (await target.mayElicit(tool.server));
  if (mayElicit && !target.canElicit) return undefined;
  const args = await completeArguments(context, tool, rest).catch((error: unknown) => {
    throw unknownError ?? error;
  });
  const call = target.callTool(tool.server, tool.tool, args, {
    signal,
    ...timeoutOf(context, mayElicit),
    onProgress: (progress) => output.progress(describeProgress(progress)),
  });
  const result = await output.withSpinner(
    `Calling ${showLine(tool.displayName)}`,
    call.catch((error: unknown) => {
      if (unknownError !== undefined && codeOf(error) === unknownError.code) throw unknownError;
      throw withCallHints(error, tool, context);
    }),
  );
  return showResult(context, tool, result);
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof TurnbuckleError ? error.code : undefined;
