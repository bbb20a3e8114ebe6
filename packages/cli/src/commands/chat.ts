import { TurnbuckleError } from 'turnbuckle';
import { type ChatOptions, chatInTerminal } from '../chat/chat-in-terminal.js';
import type { CommandContext } from '../command.js';
import { findDaemonEndpoint } from '../daemon/daemon-endpoint.js';

export async function run(context: CommandContext): Promise<void> {
  const { flags, positionals } = context;
  const text = positionals.length === 0 ? undefined : positionals.join(' ');
  const conversation = typeof flags.conversation === 'string' ? flags.conversation : undefined;
  const options: ChatOptions = { text, conversation };
  if (flags.demo === true) {
    const { withDemoAgent } = await import('../chat/demo-agent.js');
    return withDemoAgent((client) => chatInTerminal(context, client, options));
  }
  const endpoint = findDaemonEndpoint(context);
  if (endpoint === undefined)
    throw new TurnbuckleError('CONNECT_FAILED', 'No daemon is running, so there is no agent to talk to.', {
      hint: 'Start the daemon: turnbuckle serve start. To try it without a model: turnbuckle chat --demo',
    });
  await chatInTerminal(context, endpoint.client, options);
}
