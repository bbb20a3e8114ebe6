import { TurnbuckleError } from 'turnbuckle';
import { AgentLink } from '../chat/agent-link.js';
import { type ChatOptions, chatInTerminal } from '../chat/chat-in-terminal.js';
import { endEach, findByShortId, listOpen } from '../chat/list-conversations.js';
import type { CommandContext } from '../command.js';
import { rejectExtraPositionals } from '../command-line/positionals.js';
import { findDaemonEndpoint } from '../daemon/daemon-endpoint.js';

export async function run(context: CommandContext): Promise<number | undefined> {
  const { flags, positionals, output, signal } = context;
  const ends = (flags.end as readonly string[] | undefined) ?? [];
  if (flags.list === true || ends.length > 0) rejectExtraPositionals(context, 0);
  const options: ChatOptions = {
    text: positionals.length === 0 ? undefined : positionals.join(' '),
    conversation: typeof flags.conversation === 'string' ? flags.conversation : undefined,
    keeps: flags.keep === true,
    isLasting: flags.demo !== true,
  };
  if (flags.demo === true) {
    rejectWithDemo(context);
    const { withDemoAgent } = await import('../chat/demo-agent.js');
    return withDemoAgent((client) =>
      chatInTerminal(context, new AgentLink({ client, find: () => client, output, signal }), options),
    );
  }
  const link = openLink(context);
  if (ends.length > 0) return void (await endEach(context, link, ends));
  if (flags.list === true) return void (await listOpen(context, link));
  if (options.conversation === undefined) return chatInTerminal(context, link, options);
  const conversation = await findByShortId(link, options.conversation);
  return chatInTerminal(context, link, { ...options, conversation });
}

/** The agent of the demo is gone when the command ends. */
function rejectWithDemo({ flags }: CommandContext): void {
  const option = ['conversation', 'keep', 'list', 'end'].find((name) => flags[name] !== undefined);
  if (option === undefined) return;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--${option} cannot be combined with --demo.`, {
    hint: 'The demo conversation ends with the command.',
  });
}

function openLink(context: CommandContext): AgentLink {
  const { output, signal, flags } = context;
  if (flags['no-daemon'] === true)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      'The agent is part of the daemon, so --no-daemon cannot be used.',
      {
        hint: 'Omit --no-daemon. To try the agent without a daemon: turnbuckle chat --demo',
      },
    );
  // Options for other commands have no meaning here: the agent is always the daemon's own.
  const find = () => findDaemonEndpoint({ ...context, flags: {} })?.client;
  const client = find();
  if (client !== undefined) return new AgentLink({ client, find, output, signal });
  throw new TurnbuckleError('CONNECT_FAILED', 'No daemon is running, so there is no agent to talk to.', {
    hint: 'Start the daemon (turnbuckle serve start), or try the agent without a daemon or a model: turnbuckle chat --demo',
  });
}
