/** What servers may request from the host, as the host's handlers see it: validated, bounded, typed. */
import type {
  ClientCapabilities,
  CreateMessageRequestParamsBase,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { RequestKind } from '../../config/schema/schema.js';

interface ServerRequestBase {
  /** The server's name from the configuration, not the name it gives itself. */
  readonly server: string;
  /** The server's id of the request, if it has one. Untrusted. */
  readonly id?: string | number | undefined;
  /** Fires when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** The request as received, within its limits. Untrusted text. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A form to fill in: flat fields, none of them for a secret. All texts are the server's, untrusted. */
export interface FormRequest extends ServerRequestBase {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: ElicitRequestFormParams['requestedSchema'];
}

/** A page to visit: https (or on this machine), shown with its host, opened only after approval. */
export interface UrlRequest extends ServerRequestBase {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  /** Its host and port, in ASCII. */
  readonly host: string;
}

/** Something that only a person can provide. Answer `accept`, `decline` (no) or `cancel` (dismissed). */
export type ElicitationRequest = FormRequest | UrlRequest;

/** A request for a model. Messages, system prompt and model hints are the server's, untrusted. */
export interface SamplingRequest extends ServerRequestBase {
  readonly messages: CreateMessageRequestParamsBase['messages'];
  /** The requested number, at most `limits.maxSamplingTokens`. */
  readonly maxTokens: number;
  readonly systemPrompt: string | undefined;
  /** Names of models that the server prefers. */
  readonly modelHints: readonly string[];
}

/** A request for the directories that a server may work in. */
export type RootsRequest = ServerRequestBase;

type AnswerFunction<Request, Result> = (request: Request) => Promise<Result> | Result;

/** The handlers of the host. Absent ones are not offered to servers. */
export interface ServerRequestAnswers {
  readonly elicitation?: AnswerFunction<ElicitationRequest, ElicitResult> | undefined;
  readonly sampling?: AnswerFunction<SamplingRequest, CreateMessageResult> | undefined;
  readonly roots?: AnswerFunction<RootsRequest, ListRootsResult> | undefined;
}

export const REQUEST_KINDS: readonly RequestKind[] = ['elicitation', 'sampling', 'roots'];

const REQUEST_METHODS: Readonly<Record<string, RequestKind>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** The kind of request of a method; undefined for an unknown one. */
export const requestKindOf = (method: string): RequestKind | undefined =>
  Object.hasOwn(REQUEST_METHODS, method) ? REQUEST_METHODS[method] : undefined;

export function toCapabilities(kinds: readonly RequestKind[]): ClientCapabilities {
  return {
    ...(kinds.includes('elicitation') && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(kinds.includes('sampling') && { sampling: {} }),
    ...(kinds.includes('roots') && { roots: {} }),
  };
}
