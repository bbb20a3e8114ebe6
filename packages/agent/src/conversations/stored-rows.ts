/** Rows of the database as conversations, messages and calls. */
import type { Row } from '@turnbuckle/store';
import type { Conversation } from './conversation.js';
import type { StoredCall, StoredMessage } from './message.js';

/** Only the store writes this column. */
export const toConversation = ({ data }: Row): Conversation => JSON.parse(String(data)) as Conversation;

export const toMessage = ({ number, kind, data, at }: Row): StoredMessage =>
  ({
    ...JSON.parse(String(data)),
    kind: String(kind),
    number: Number(number),
    at: Number(at),
  }) as StoredMessage;

export const toCall = (row: Row): StoredCall => ({
  id: String(row.id),
  conversation: String(row.conversation),
  step: Number(row.step),
  modelId: String(row.model_id),
  tool: String(row.tool),
  state: String(row.state) as StoredCall['state'],
  output: row.output === null || row.output === undefined ? undefined : String(row.output),
  startedAt: Number(row.started_at),
});
