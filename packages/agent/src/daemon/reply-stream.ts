/** The messages of a conversation as server-sent events: those after a number, and then each new one. */
import type { ServerResponse } from 'node:http';
import type { AgentStore } from '../conversations/agent-store.js';
import type { ConversationFeed } from './conversation-feed.js';
import { toShownMessage } from './shapes.js';

export interface ReplyStream {
  readonly response: ServerResponse;
  readonly conversation: string;
  /** The number of the last message that the client has. */
  readonly after: number;
  readonly store: AgentStore;
  readonly feed: ConversationFeed;
  readonly signal: {
    readonly aborted: boolean;
    addEventListener(type: 'abort', listener: () => void): void;
  };
}

const PAGE = 100;
const KEEP_ALIVE_MS = 15_000;
/** A client that reads nothing for this long is gone. */
const STALLED_MS = 60_000;

/** Resolves when the client has left, or the signal aborts. */
export async function streamReplies(stream: ReplyStream): Promise<void> {
  const { response, conversation, feed, signal } = stream;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-content-type-options': 'nosniff',
  });
  response.flushHeaders();
  response.setTimeout(STALLED_MS);
  let wake = (): void => {};
  const stopListening = feed.listen(conversation, () => wake());
  signal.addEventListener('abort', () => wake());
  response.once('close', () => wake());
  const timer = setInterval(() => {
    if (response.writableLength === 0) response.write(': \n\n');
  }, KEEP_ALIVE_MS).unref();
  const isOpen = (): boolean => !signal.aborted && !response.destroyed && !response.writableEnded;
  try {
    for (let after = stream.after; isOpen(); ) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const sent = await sendPage(stream, after);
      if (sent > after) after = sent;
      else if (isOpen()) await changed;
    }
  } finally {
    stopListening();
    clearInterval(timer);
    response.end();
  }
}

/** The number of the last message that was sent. The next page is read when the client has taken this one. */
async function sendPage({ response, conversation, store }: ReplyStream, after: number): Promise<number> {
  const messages = await store.run('messagesAfter', conversation, after, PAGE);
  for (const message of messages) {
    const shown = toShownMessage(message);
    if (response.destroyed || shown === undefined) continue;
    const isFull = !response.write(
      `id: ${shown.number}\nevent: ${shown.kind}\ndata: ${JSON.stringify(shown)}\n\n`,
    );
    if (isFull) await drained(response);
  }
  return messages.at(-1)?.number ?? after;
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
