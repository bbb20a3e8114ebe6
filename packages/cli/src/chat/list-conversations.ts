/** The conversations of the agent that have not ended: listed, found by the beginning of their ids, and ended. */
import type { CommandContext } from '../command.js';
import { resolveShortId, shortId, shortIds } from '../command-line/short-id.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestampShort } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { AgentLink } from './agent-link.js';

interface ListedConversation {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly updatedAt: string;
  readonly energy: { readonly used: number; readonly budget: number };
}

const MAX_LISTED = 1_000;

/** The latest first, ended ones included. */
const fetchConversations = async (link: AgentLink): Promise<readonly ListedConversation[]> =>
  (await link.get<{ conversations: readonly ListedConversation[] }>(`/conversations?limit=${MAX_LISTED}`))
    .conversations;

/** The id of the conversation that begins like this. */
export const findByShortId = (link: AgentLink, typed: string): Promise<string> =>
  resolveShortId(typed, async () => (await fetchConversations(link)).map(({ id }) => id));

export async function listOpen({ output }: CommandContext, link: AgentLink): Promise<void> {
  const conversations = (await fetchConversations(link)).filter(({ state }) => state !== 'ended');
  if (output.json) return output.data({ conversations });
  if (conversations.length === 0) return output.note('No open conversations. Start one: turnbuckle chat');
  const { color, width } = output;
  const ids = shortIds(conversations.map(({ id }) => id));
  const rows = conversations.map(({ title, state, updatedAt, energy }, at) => [
    showLine(ids[at] ?? '', 40),
    showLine(state, 20),
    formatTimestampShort(Date.parse(updatedAt), Date.now()),
    `${Math.round(energy.used)} of ${Math.round(energy.budget)}`,
    showLine(title, 100),
  ]);
  const head = ['id', 'state', 'last change', 'energy', 'first message'].map((word) => color.dim(word));
  for (const line of textTable([head, ...rows], { width })) output.line(line);
  output.note(
    color.dim(
      'Continue a conversation: turnbuckle chat --conversation <id>\nEnd a conversation: turnbuckle chat --end <id>',
    ),
  );
}

export async function endEach(
  { output }: CommandContext,
  link: AgentLink,
  typed: readonly string[],
): Promise<void> {
  const ended: string[] = [];
  for (const word of typed) {
    const id = await findByShortId(link, word);
    await link.post(`/conversations/${encodeURIComponent(id)}/end`, {});
    ended.push(id);
    if (!output.json) output.line(`Ended ${showLine(shortId(id), 40)}`);
  }
  if (output.json) output.data({ ended });
}
