/** The MCP endpoint over Streamable HTTP, for clients of every revision at one URL. */

import { MODERN_REVISION, SERVED_REVISIONS } from 'turnbuckle/host';
import { requireActiveToken } from '../../identity/identity-end.js';
import { serveModern } from '../modern/modern.js';
import { type Incoming, parseMessage } from '../protocol/incoming.js';
import { checkNameLengths } from '../protocol/name-lengths.js';
import {
  CODES,
  errorText,
  META,
  metaOf,
  type RequestId,
  RpcError,
  type RpcRequest,
} from '../protocol/protocol.js';
import { toRpcError } from '../protocol/to-rpc-error.js';
import type { McpRequestContext, Sessions } from '../sessions/sessions.js';
import { callerInView, type ViewContext } from '../view-context.js';
import { PostResponse } from './post-response.js';
import {
  checkEnvelope,
  checkParameterHeaders,
  checkRequestHeaders,
  hasParameterHeaders,
  unsupportedVersion,
} from './request-headers.js';

export class HttpEndpoint {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Responds to a POST with this body. Never rejects. */
  async post(viewContext: ViewContext, context: McpRequestContext, body: string): Promise<void> {
    let id: RequestId | null = null;
    try {
      const incoming = await parseMessage(body);
      requireActiveToken(context.identity);
      if (incoming.kind === 'request') id = incoming.message.id;
      checkNameLengths(incoming);
      if (isModern(context, incoming)) await this.#postModern(viewContext, context, incoming);
      else await this.#sessions.post(viewContext, context, incoming);
    } catch (thrown) {
      const error = toRpcError(thrown);
      new PostResponse(context).finish(errorText(id, error), error.http);
    }
  }

  /** Opens the stream of a session (older revisions). */
  get(viewContext: ViewContext, context: McpRequestContext): void {
    this.#inSession(context, () => this.#sessions.listen(viewContext, context));
  }

  /** Ends a session (older revisions). */
  async delete(viewContext: ViewContext, context: McpRequestContext): Promise<void> {
    let ending: Promise<void> | undefined;
    this.#inSession(context, () => {
      ending = this.#sessions.end(viewContext, context);
    });
    if (ending === undefined) return;
    await ending;
    context.response.writeHead(204).end();
  }

  #inSession(context: McpRequestContext, work: () => void): void {
    const { request, response } = context;
    try {
      work();
    } catch (thrown) {
      const error = toRpcError(thrown);
      // The newer revision has neither streams nor sessions: the status tells its clients so.
      const http = request.headers['mcp-session-id'] === undefined ? 405 : error.http;
      if (http === 405) response.setHeader('allow', 'POST');
      new PostResponse(context).finish(errorText(null, error), http);
    }
  }

  async #postModern(viewContext: ViewContext, context: McpRequestContext, incoming: Incoming): Promise<void> {
    const { request, caller } = context;
    const answer = new PostResponse(context);
    if (incoming.kind === 'notice') return answer.accept();
    if (incoming.kind === 'answer')
      throw new RpcError(CODES.invalidRequest, 'The message is a response, but no request is pending', {
        http: 400,
      });
    const { message } = incoming;
    checkRequestHeaders(request.headers, message);
    checkEnvelope(message);
    checkArgumentHeaders(viewContext, context, message);
    try {
      // A stream has no end, so it ends with its token.
      const isStream = message.method === 'subscriptions/listen';
      const signal = isStream ? (context.streamSignal ?? context.signal) : context.signal;
      const { ended, isOwner } = context.identity ?? {};
      await serveModern(viewContext, { message, caller, signal, ended, isOwner, reply: answer });
    } catch (thrown) {
      const error = toRpcError(thrown);
      answer.finish(errorText(message.id, error), error.http);
    }
  }
}

function checkArgumentHeaders(
  viewContext: ViewContext,
  { request, caller }: McpRequestContext,
  { method, params }: RpcRequest,
): void {
  const { name } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return;
  const { view } = viewContext.dispatcher;
  const who = callerInView(viewContext, caller);
  const tool = view.findTool(name, who);
  if (tool === undefined || !hasParameterHeaders(tool)) return;
  // The headers that a tool requires would reveal it to a caller that may not know it.
  if (viewContext.dispatcher.visibleTool(name, who) === tool)
    checkParameterHeaders(request.headers, tool, params.arguments);
}

/** By the header, by the body, or by a method that only one revision has. */
function isModern({ request }: McpRequestContext, incoming: Incoming): boolean {
  const version = request.headers['mcp-protocol-version'];
  const inBody = incoming.kind === 'answer' ? undefined : metaOf(incoming.message.params)[META.version];
  if (version === MODERN_REVISION || inBody !== undefined) return true;
  if (incoming.kind === 'request' && incoming.message.method === 'server/discover') return true;
  if (typeof version === 'string' && !SERVED_REVISIONS.includes(version)) throw unsupportedVersion(version);
  return false;
}
