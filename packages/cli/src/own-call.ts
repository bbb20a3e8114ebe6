/** A call over a connection of its own: the server is started for it and ended with it. */
import type { CallOptions, ConfiguredRuntime, Runtime, ServerRequestAnswers } from 'turnbuckle';
import { completeArguments, describeProgress, showResult, timeoutOf, withCallHints } from './call-request.js';
import { callerOf } from './caller-of.js';
import type { CommandContext } from './command.js';
import { findTool } from './find-tool.js';
import { withRuntime } from './open.js';
import { showLine } from './untrusted-text.js';

/** Resolves with the exit code. */
export async function callDirectly(context: CommandContext): Promise<number> {
  const work = async ({ runtime }: ConfiguredRuntime): Promise<number> => {
    const { tool, rest } = await findTool(context, runtime);
    const args = await completeArguments(context, tool, rest);
    const options: CallOptions = {
      signal: context.signal,
      caller: callerOf(context, 'as'),
      ...timeoutOf(context, asksPeople(context, runtime, tool.server)),
      onProgress: (progress) => context.output.progress(describeProgress(progress)),
    };
    const call = runtime.callTool(tool.server, tool.tool, args, options).catch((error: unknown) => {
      throw withCallHints(error, tool, context);
    });
    const result = await context.output.during(`Calling ${showLine(tool.displayName)}`, call);
    return showResult(context, tool, result);
  };
  return withRuntime(context, work, { answers: context.output.interactive ? answersOf(context) : {} });
}

/** What a server asks is put to the person; what that takes is loaded when the first question comes. */
function answersOf(context: CommandContext): ServerRequestAnswers {
  let answering: Promise<NonNullable<ServerRequestAnswers['elicitation']>> | undefined;
  return {
    elicitation: async (request) => {
      answering ??= import('./answer-in-terminal.js').then(({ createTerminalAnswers }) =>
        createTerminalAnswers(context),
      );
      return (await answering)(request);
    },
  };
}

/** A call that may wait for a person is not cut off while that person reads. */
function asksPeople({ output }: CommandContext, runtime: Runtime, server: string): boolean {
  if (!output.interactive) return false;
  const allowed = runtime.serverStatus(server).config?.mayAsk;
  return Array.isArray(allowed) && allowed.includes('elicitation');
}
