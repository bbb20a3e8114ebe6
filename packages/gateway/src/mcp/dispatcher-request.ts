/** What the surface is asked, and how it speaks of what is named there. */
import type { Caller, CallRequest, CancelSignal, CatalogTool, Progress, Respondent } from 'turnbuckle';
import { type AnswerText, SharedText } from '../http/answer-text.js';
import type { Era, Params } from './protocol.js';
import type { OpenState } from './request-states.js';
import type { Target } from './view.js';

export interface SurfaceRequest {
  readonly method: string;
  readonly params: Params;
  readonly caller: Caller;
  /** The name of the view that it came to: what begins there goes on there. */
  readonly view: string;
  readonly era: Era;
  readonly signal?: CancelSignal | undefined;
  readonly respondent?: Respondent | undefined;
  /** What a server of the newer revision is to say, where the client has not said it for this request. */
  readonly logLevel?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** What it goes on from, opened. */
  readonly state?: OpenState | undefined;
}

/** A result, or the JSON text of one. */
export type SurfaceResult = Params | AnswerText;

/** A resource or prompt, and how the client calls it. */
export interface NamedTarget extends Target {
  readonly kind: 'resource' | 'prompt';
  readonly name: string;
  /** False: nobody has said that it is there. */
  readonly isListed?: boolean;
  /** What else rules about arguments hold for. */
  readonly implied?: Params;
}

export type ToolIdentity = Pick<CatalogTool, 'server' | 'tool'>;

/** A tool at its server, or by the name that agents see. */
export interface ToolCall {
  readonly server: string | undefined;
  readonly tool: string;
  readonly arguments: Params;
  readonly isUnlisted: boolean;
  readonly calledAs: CallRequest['calledAs'];
  readonly onlyFor: CallRequest['onlyFor'];
}

export const isText = (result: SurfaceResult): result is AnswerText =>
  typeof result === 'string' || result instanceof SharedText;
