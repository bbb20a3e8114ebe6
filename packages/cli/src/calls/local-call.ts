/** A call with servers of this process: the server is started for the call and stopped after it. */
import type { Runtime, ServerRequestAnswers } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { withRuntime } from '../session/command-runtime.js';
import { callerFromFlags } from './caller-from-flags.js';
import { findTool } from './find-tool.js';
import { lookupForCaller } from './lookup-for-caller.js';
import { type CallTarget, makeCall } from './make-call.js';

/** Resolves with the exit code. */
export async function callLocally(context: CommandContext): Promise<number> {
  const answers = context.output.interactive ? terminalAnswers(context) : {};
  const code = await withRuntime(context, ({ runtime }) => makeCall(context, localTarget(context, runtime)), {
    answers,
  });
  return code ?? 0;
}

function localTarget(context: CommandContext, runtime: Runtime): CallTarget {
  const caller = callerFromFlags(context, 'as');
  return {
    canElicit: true,
    findTool: () => findTool(context, lookupForCaller(runtime, caller)),
    mayElicit: (server) => {
      const allowed = runtime.serverStatus(server).config?.mayAsk;
      return Array.isArray(allowed) && allowed.includes('elicitation');
    },
    // biome-ignore lint/complexity/useMaxParams: the same method as that of the runtime.
    callTool: (server, tool, args, options) => runtime.callTool(server, tool, args, { ...options, caller }),
  };
}

/** Loads what asks the person when the first question arrives. */
function terminalAnswers(context: CommandContext): ServerRequestAnswers {
  let elicitation: Promise<NonNullable<ServerRequestAnswers['elicitation']>> | undefined;
  return {
    elicitation: async (request) => {
      elicitation ??= import('./elicit-in-terminal.js').then(({ createTerminalElicitation }) =>
        createTerminalElicitation(context),
      );
      return (await elicitation)(request);
    },
  };
}
