/** What servers may ask the host, as the host's own functions see it: checked, bounded, typed. */
import type {
  ClientCapabilities,
  CreateMessageRequestParamsBase,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { RequestKind } from '../config/schema.js';

interface Asked {
  /** The name from the configuration: who asks. What a server calls itself is not told here. */
  readonly server: string;
  /** The server's own name for the question, where it gives one. Untrusted. */
  readonly id?: string | number | undefined;
  /** Fires when nobody waits for the answer any longer. */
  readonly signal: AbortSignal;
  /** The request as it came over the wire, within its bounds. Untrusted text. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A form to be filled in: flat fields, none of them for a secret. All texts are the server's, untrusted. */
export interface FormRequest extends Asked {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: ElicitRequestFormParams['requestedSchema'];
}

/** A page to be visited: https (or this machine's own), shown with its host, opened only after a yes. */
export interface UrlRequest extends Asked {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  /** Where it leads: host and port, in ASCII. */
  readonly host: string;
}

/** Something that only a person can give. Answer `accept`, `decline` (no) or `cancel` (went away). */
export type ElicitationRequest = FormRequest | UrlRequest;

/** Something to put to a model. Messages, system prompt and model hints are the server's, untrusted. */
export interface SamplingRequest extends Asked {
  readonly messages: CreateMessageRequestParamsBase['messages'];
  /** What was asked for, at most `limits.maxSamplingTokens`. */
  readonly maxTokens: number;
  readonly systemPrompt: string | undefined;
  /** Names of models that the server would like. */
  readonly modelHints: readonly string[];
}

/** The question for the directories that a server may work in. */
export type RootsRequest = Asked;

type Answer<Request, Result> = (request: Request) => Promise<Result> | Result;

/** What the host answers. What is absent is not offered to servers. */
export interface ServerRequestAnswers {
  readonly elicitation?: Answer<ElicitationRequest, ElicitResult> | undefined;
  readonly sampling?: Answer<SamplingRequest, CreateMessageResult> | undefined;
  readonly roots?: Answer<RootsRequest, ListRootsResult> | undefined;
}

export const REQUEST_KINDS: readonly RequestKind[] = ['elicitation', 'sampling', 'roots'];

const METHODS: Readonly<Record<string, RequestKind>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** What kind of request a method is; undefined for one that is not known here. */
export const kindOf = (method: string): RequestKind | undefined =>
  Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;

export function toCapabilities(kinds: readonly RequestKind[]): ClientCapabilities {
  return {
    ...(kinds.includes('elicitation') && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(kinds.includes('sampling') && { sampling: {} }),
    ...(kinds.includes('roots') && { roots: {} }),
  };
}
