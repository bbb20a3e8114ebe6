import type { Announcer, Call, Question } from './behaviour.js';
import type { Channel } from './channel.js';
import { InputRequired, openState, sealState } from './input-required.js';
import { isObject, isRequestId, type JsonObject, type RequestId, toObject } from './json.js';
import type { Link, Request } from './link.js';
import { notify } from './messages.js';
import { type Era, META } from './revisions.js';
import { MISSING_CLIENT_CAPABILITY, RpcError } from './rpc-error.js';

/** The kernel's `Call`. */
export class ToolCall implements Call {
  readonly id: RequestId;
  readonly era: Era;
  readonly meta: JsonObject;
  readonly signal: AbortSignal;
  readonly reply: Channel;
  readonly server: Announcer;
  ignoresCapabilities = false;
  readonly #link: Link;
  readonly #params: JsonObject;

  constructor(request: Request, link: Link, server: Announcer) {
    this.id = request.id;
    this.era = request.era;
    this.signal = request.signal;
    this.reply = request.reply;
    this.#params = request.params;
    this.meta = toObject(request.params._meta);
    this.#link = link;
    this.server = server;
  }

  progress(progress: number, total: number, message = `${progress} of ${total}`): void {
    const { progressToken } = this.meta;
    if (!isRequestId(progressToken) || this.signal.aborted) return;
    notify(this.reply, 'notifications/progress', {
      progressToken,
      progress,
      total,
      message,
    });
  }

  async ask(key: string, question: Question): Promise<JsonObject> {
    this.#requireCapability(question);
    if (this.era === 'legacy') {
      const reply = await this.#link.question(question.method, question.params, this.reply);
      return isObject(reply.result) ? reply.result : { error: reply.error };
    }
    const answers = this.#answers();
    const known = answers[key];
    if (isObject(known)) return known;
    // The retry is a new request, so the tool runs again from its start and finds this answer.
    throw new InputRequired({ [key]: { ...question } }, sealState(answers, this.#binding()));
  }

  #answers(): JsonObject {
    const { requestState, inputResponses } = this.#params;
    if (requestState === undefined) return {};
    return { ...openState(requestState, this.#binding()), ...toObject(inputResponses) };
  }

  #binding(): string {
    return JSON.stringify([this.#params.name, this.#params.arguments]);
  }

  get offered(): JsonObject {
    return this.era === 'modern'
      ? toObject(this.meta[META.clientCapabilities])
      : this.#link.clientCapabilities;
  }

  #requireCapability({ method }: Question): void {
    const [capability = ''] = method.split('/');
    if (this.ignoresCapabilities || this.offered[capability] !== undefined) return;
    throw new RpcError(MISSING_CLIENT_CAPABILITY, `The client lacks ${capability}`, {
      data: { requiredCapabilities: { [capability]: {} } },
      status: this.era === 'modern' ? 400 : 200,
    });
  }
}
