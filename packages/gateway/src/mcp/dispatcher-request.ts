/** Requests to the dispatcher, and the items that they name. */
import type { Caller, CallRequest, CatalogTool, Progress } from 'turnbuckle';
import type { CancelSignal, ClientResponder } from 'turnbuckle/host';
import { type ResponseText, SharedText } from '../http/response-text.js';
import type { ServerSpan } from '../telemetry/server-span.js';
import type { Era, Params } from './protocol/protocol.js';
import type { OpenState } from './sealed/request-states.js';
import type { Target } from './view.js';

export interface DispatcherRequest {
  readonly method: string;
  readonly params: Params;
  readonly caller: Caller;
  /** The name of the view that the request came to: what starts in a view continues only there. */
  readonly view: string;
  readonly era: Era;
  readonly signal?: CancelSignal | undefined;
  readonly responder?: ClientResponder | undefined;
  /** `_meta` for a server of the newer revision, if the client did not send it with this request. */
  readonly logLevel?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The opened state that it resumes from. */
  readonly state?: OpenState | undefined;
  /** Its span, if telemetry is on. */
  readonly span?: ServerSpan | undefined;
}

/** A result, or the JSON text of one. */
export type DispatcherResult = Params | ResponseText;

/** A resource or prompt, and its name for the client. */
export interface NamedTarget extends Target {
  readonly kind: 'resource' | 'prompt';
  readonly name: string;
  /** False: it is not known whether it exists. */
  readonly isListed?: boolean;
  /** Other arguments that rules apply to. */
  readonly implied?: Params;
}

export type ToolIdentity = Pick<CatalogTool, 'server' | 'tool'>;

/** A tool by server and name, or by the name that agents see. */
export interface ToolCall {
  readonly server: string | undefined;
  readonly tool: string;
  readonly arguments: Params;
  readonly isUnlisted: boolean;
  readonly calledAs: CallRequest['calledAs'];
  readonly onlyFor: CallRequest['onlyFor'];
}

export const isResponseText = (result: DispatcherResult): result is ResponseText =>
  typeof result === 'string' || result instanceof SharedText;
