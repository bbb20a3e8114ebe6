/** The routes of the agent. They need full access: the agent acts with its own capabilities, not with those of a token. */
import { type ApiRoute, EMPTY_OBJECT, readJson, readOptionalJson, readQuery } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { Cancellation, inSlices, offAbort, onAbort, type Steps } from 'turnbuckle/host';
import { fromThousandths, rangeOf, toThousandths } from 'turnbuckle/light';
import * as z from 'zod/mini';
import type { AgentStore } from '../conversations/agent-store.js';
import type { AgentLoop } from '../loop/agent-loop.js';
import type { AgentConfig } from '../settings/agent-settings.js';
import type { ConversationFeed } from './conversation-feed.js';
import { streamReplies } from './reply-stream.js';
import {
  CONVERSATION_SHAPE,
  MESSAGE_BODY,
  MESSAGE_RESPONSE,
  MESSAGE_SHAPE,
  STATS_SHAPE,
  toShownConversation,
  toShownFailure,
  toShownMessage,
} from './shapes.js';

export interface RouteParts {
  readonly store: AgentStore;
  readonly loop: AgentLoop;
  readonly feed: ConversationFeed;
  readonly config: () => AgentConfig;
  readonly now: () => number;
  readonly createId: () => string;
  readonly redactSteps: (value: unknown) => Steps<unknown>;
  readonly publish: (conversation: string) => void;
  /** The agent ends: streams end with it. */
  readonly ending: AbortSignal;
}

/** Throws while there is no agent. */
type Agent = () => RouteParts;

type Handle = ApiRoute['handle'];
type RouteContext = Parameters<Handle>[0];

const LIST_QUERY = z.strictObject({
  limit: z.optional(z.string().check(z.regex(/^\d{1,4}$/))),
  ended: z.optional(z.enum(['true', 'false'])),
});
const STREAM_QUERY = z.strictObject({ after: z.optional(z.string().check(z.regex(/^\d{1,12}$/))) });
const DETAILS = z.extend(CONVERSATION_SHAPE, { messages: z.array(MESSAGE_SHAPE) });
const MAX_LISTED = 1_000;
const MAX_STREAMS = 50;

export function createAgentRoutes(agent: Agent): readonly ApiRoute[] {
  const route = (method: ApiRoute['method'], path: string, rest: Pick<ApiRoute, 'summary' | 'handle'>) => ({
    method,
    path,
    access: 'admin' as const,
    ...rest,
  });
  return [
    {
      ...route('POST', '/message', { summary: 'Send a message to the agent', handle: send(agent) }),
      body: MESSAGE_BODY,
      response: MESSAGE_RESPONSE,
    },
    {
      ...route('GET', '/conversations', {
        summary: 'List conversations, latest first',
        handle: list(agent),
      }),
      query: LIST_QUERY,
      response: z.object({ conversations: z.array(CONVERSATION_SHAPE) }),
    },
    {
      ...route('GET', '/conversations/:id', { summary: 'Show a conversation', handle: show(agent) }),
      response: DETAILS,
    },
    {
      ...route('GET', '/conversations/:id/events', {
        summary: 'Stream the messages of a conversation as server-sent events',
        handle: stream(agent),
      }),
      query: STREAM_QUERY,
      mediaType: 'text/event-stream',
    },
    {
      ...route('POST', '/conversations/:id/end', {
        summary: 'End a conversation; its calls that are waiting for approval are cancelled',
        handle: end(agent),
      }),
      body: EMPTY_OBJECT,
      response: CONVERSATION_SHAPE,
    },
    {
      ...route('GET', '/agent/stats', {
        summary: "Show the agent's energy and activity",
        handle: stats(agent),
      }),
      response: STATS_SHAPE,
    },
  ];
}

const send =
  (agent: Agent): Handle =>
  async (context) => {
    const { store, loop, config, now, createId, redactSteps, publish } = agent();
    const { conversation, text: sent } = await readJson(context, MESSAGE_BODY);
    // A model must not get a secret, and a conversation is stored as plain text.
    const text = String(await inSlices(redactSteps(sent)));
    context.requireActiveToken();
    const { conversationBudget, maxConversations } = config();
    const budget = toThousandths(conversationBudget);
    const message = { conversation, newId: createId(), text, at: now(), budget, maxConversations };
    const added = await store.run('addMessage', message);
    if ('refused' in added)
      throw added.refused === 'unknown' ? unknown(conversation ?? '') : tooMany(added.open, maxConversations);
    loop.wake();
    publish(added.conversation);
    return { conversation: added.conversation, message: added.number };
  };

const list =
  (agent: Agent): Handle =>
  async (context) => {
    const { store, now, loop } = agent();
    const { limit = '100', ended } = readQuery(context, LIST_QUERY);
    const found = await store.run('list', {
      limit: Math.min(Math.max(Number(limit), 1), MAX_LISTED),
      isEnded: ended === undefined ? undefined : ended === 'true',
    });
    const facts = { now: now(), failure: loop.status.failure };
    return { conversations: found.map((one) => toShownConversation(one, facts)) };
  };

const show =
  (agent: Agent): Handle =>
  async (context) => {
    const { store, now, loop } = agent();
    const id = idOf(context);
    const found = await store.run('history', id);
    if (found === undefined) throw unknown(id);
    const messages = found.messages.flatMap((message) => toShownMessage(message) ?? []);
    const facts = { now: now(), failure: loop.status.failure, calls: found.calls };
    return { ...toShownConversation(found.conversation, facts), messages };
  };

const stream =
  (agent: Agent): Handle =>
  async (context) => {
    const { store, feed, ending } = agent();
    const conversation = idOf(context);
    const { after } = readQuery(context, STREAM_QUERY);
    if ((await store.run('find', conversation)) === undefined) throw unknown(conversation);
    if (feed.size >= MAX_STREAMS) throw tooManyStreams();
    const { response, streamSignal, closing, request } = context;
    const last = request.headers['last-event-id'];
    const start = after ?? (typeof last === 'string' && /^\d{1,12}$/.test(last) ? last : '0');
    const ended = new Cancellation();
    const leave = (): void => ended.cancel();
    const signals = [streamSignal, closing, ending];
    for (const signal of signals) onAbort(signal, leave);
    try {
      await streamReplies({ response, conversation, after: Number(start), store, feed, signal: ended });
    } finally {
      for (const signal of signals) offAbort(signal, leave);
    }
  };

const end =
  (agent: Agent): Handle =>
  async (context) => {
    const { store, now, publish, loop } = agent();
    const id = idOf(context);
    await readOptionalJson(context, EMPTY_OBJECT);
    context.requireActiveToken();
    const ended = await store.run('end', id, now());
    if (ended === undefined) throw unknown(id);
    loop.cancelWaitingCalls(id);
    publish(id);
    loop.wake();
    return toShownConversation(ended, { now: now(), failure: undefined });
  };

const stats =
  (agent: Agent): Handle =>
  async () => {
    const { store, loop, config } = agent();
    const { bySource, deducted } = await store.run('energyTotals');
    const { open, ended, steps } = await store.run('counts');
    const { level, failure, cycles, runningCalls, steward } = loop.status;
    const consumed = {
      model: fromThousandths(bySource.model),
      call: fromThousandths(bySource.call),
      steward: fromThousandths(bySource.steward),
    };
    const range = rangeOf(level, config().regulator);
    return {
      ...(failure !== undefined && { failure: toShownFailure(failure) }),
      energy: { level, range, deducted: fromThousandths(deducted), consumed },
      conversations: { open, ended },
      steps,
      cycles,
      runningCalls,
      steward,
    };
  };

const idOf = ({ parameters: { id = '' } }: RouteContext): string => id;

const unknown = (id: string): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', `There is no conversation "${id.slice(0, 100)}".`, {
    hint: 'List all conversations with GET /conversations, or omit the id to start a new conversation.',
  });

const tooMany = (open: number, max: number): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', `The agent has ${open} open conversations. The limit is ${max}.`, {
    hint: 'List open conversations with GET /conversations?ended=false, and end some of them with POST /conversations/<id>/end. Alternatively, increase agent.maxConversations in your config file.',
  });

const tooManyStreams = (): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', `Too many reply streams are open (limit: ${MAX_STREAMS}).`, {
    hint: 'Close a stream, or try again later.',
  });
