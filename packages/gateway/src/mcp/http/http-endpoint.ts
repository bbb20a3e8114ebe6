/** The MCP endpoint over Streamable HTTP, for clients of every revision at one address. */
import { requireGood } from '../http/visitor-end.js';
import { callerIn, type Desk } from './desk.js';
import { type Incoming, parseMessage } from './incoming.js';
import { serveModern } from './modern.js';
import { checkNameLengths } from './name-lengths.js';
import { PostAnswer } from './post-answer.js';
import {
  CODES,
  errorText,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  metaOf,
  type RequestId,
  RpcError,
  type RpcRequest,
} from './protocol.js';
import {
  checkEnvelope,
  checkParameterHeaders,
  checkRequestHeaders,
  hasParameterHeaders,
  unsupportedVersion,
} from './request-headers.js';
import { toRpcError } from './rpc-error.js';
import type { Sessions, Visitor } from './sessions.js';

export class HttpEndpoint {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Answers a POST with this body. Never rejects. */
  async post(desk: Desk, visitor: Visitor, body: string): Promise<void> {
    let id: RequestId | null = null;
    try {
      const incoming = await parseMessage(body);
      requireGood(visitor.visitor);
      if (incoming.kind === 'request') id = incoming.message.id;
      checkNameLengths(incoming);
      if (isModern(visitor, incoming)) await this.#modern(desk, visitor, incoming);
      else await this.#sessions.post(desk, visitor, incoming);
    } catch (thrown) {
      const error = toRpcError(thrown);
      new PostAnswer(visitor).finish(errorText(id, error), error.http);
    }
  }

  /** The stream of an older client's session. */
  get(desk: Desk, visitor: Visitor): void {
    this.#inSession(visitor, () => this.#sessions.listen(desk, visitor));
  }

  /** An older client ends its session. */
  async delete(desk: Desk, visitor: Visitor): Promise<void> {
    let ending: Promise<void> | undefined;
    this.#inSession(visitor, () => {
      ending = this.#sessions.end(desk, visitor);
    });
    if (ending === undefined) return;
    await ending;
    visitor.response.writeHead(204).end();
  }

  #inSession(visitor: Visitor, work: () => void): void {
    const { request, response } = visitor;
    try {
      work();
    } catch (thrown) {
      const error = toRpcError(thrown);
      // The newer revision has neither streams nor sessions: a client of it learns that from the status.
      const http = request.headers['mcp-session-id'] === undefined ? 405 : error.http;
      if (http === 405) response.setHeader('allow', 'POST');
      new PostAnswer(visitor).finish(errorText(null, error), http);
    }
  }

  async #modern(desk: Desk, visitor: Visitor, incoming: Incoming): Promise<void> {
    const { request, caller } = visitor;
    const answer = new PostAnswer(visitor);
    if (incoming.kind === 'notice') return answer.accept();
    if (incoming.kind === 'answer')
      throw new RpcError(CODES.invalidRequest, 'Nothing was asked', { http: 400 });
    const { message } = incoming;
    checkRequestHeaders(request.headers, message);
    checkEnvelope(message);
    checkArguments(desk, visitor, message);
    try {
      // One has no end of its own: it is as good as its token.
      const isStream = message.method === 'subscriptions/listen';
      const signal = isStream ? (visitor.streamSignal ?? visitor.signal) : visitor.signal;
      const { ended, isOwner } = visitor.visitor ?? {};
      await serveModern(desk, { message, caller, signal, ended, isOwner, reply: answer });
    } catch (thrown) {
      const error = toRpcError(thrown);
      answer.finish(errorText(message.id, error), error.http);
    }
  }
}

function checkArguments(desk: Desk, { request, caller }: Visitor, { method, params }: RpcRequest): void {
  const { name } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return;
  const { view } = desk.surface;
  const who = callerIn(desk, caller);
  const tool = view.findTool(name, who);
  if (tool === undefined || !hasParameterHeaders(tool)) return;
  // What such a tool wants in headers would tell who may not know it that it is there.
  if (desk.surface.visibleTool(name, who) === tool)
    checkParameterHeaders(request.headers, tool, params.arguments);
}

/** By the header, by the body, or by a method that only one of them has. */
function isModern({ request }: Visitor, incoming: Incoming): boolean {
  const told = request.headers['mcp-protocol-version'];
  const inBody = incoming.kind === 'answer' ? undefined : metaOf(incoming.message.params)[META.version];
  if (told === MODERN_VERSION || inBody !== undefined) return true;
  if (incoming.kind === 'request' && incoming.message.method === 'server/discover') return true;
  if (typeof told === 'string' && !LEGACY_VERSIONS.includes(told)) throw unsupportedVersion(told);
  return false;
}
