import type { Channel } from './channel.js';
import type { JsonObject, RequestId } from './json.js';
import type { Era } from './revisions.js';

export type Changed = 'tools' | 'resources' | 'prompts';

/** Notifies clients of changes, each in the way of its era. */
export interface Announcer {
  /** A list changed. */
  changed(kind: Changed): void;
  /** A resource changed; only its subscribers are notified. */
  updated(uri: string): void;
}

/** A server request, for the client's user or model. */
export interface Question {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: JsonObject;
}

/** A running `tools/call`, as its tool sees it. */
export interface Call {
  readonly id: RequestId;
  readonly era: Era;
  readonly meta: JsonObject;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
  readonly reply: Channel;
  readonly server: Announcer;
  /** Set by a tool that also sends requests that the client does not support. */
  ignoresCapabilities: boolean;
  /** Reports progress, if the client asked for it. */
  progress(progress: number, total: number, message?: string): void;
  /** Asks the client; in the modern era the tool runs again from its start once the answer has arrived. */
  ask(key: string, question: Question): Promise<JsonObject>;
  /** The capabilities of the client. */
  readonly offered: JsonObject;
}

/** A tool: its definition, which is listed unchanged, and what a call does. */
export interface FixtureTool {
  readonly definition: JsonObject;
  /** Returns the call's result; throws `RpcError` for a JSON-RPC error, returns `ANSWERED` if it has sent the response itself. */
  run(args: JsonObject, call: Call): unknown;
}

/** A resource or (with `uriTemplate` in its definition) a template. */
export interface FixtureResource {
  readonly definition: JsonObject;
  /** The contents of the URI, or undefined if it is another resource's URI. */
  read(uri: string): readonly JsonObject[] | undefined;
}

export interface FixturePrompt {
  readonly definition: JsonObject;
  get(args: JsonObject): JsonObject;
}

/** One page of a list. */
export interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor?: string;
}

export type Listed = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** The sender of a message: `revision` is set after the handshake. */
export interface Peer {
  readonly revision: string | undefined;
}

/** Everything a fixture decides; only the name is required. The arrays may change while it runs. */
export interface Behaviour {
  readonly name: string;
  readonly instructions?: string;
  /** The `serverInfo`, instead of one made from the fixture's name. */
  readonly info?: JsonObject;
  readonly tools?: FixtureTool[];
  readonly resources?: FixtureResource[];
  readonly templates?: FixtureResource[];
  readonly prompts?: FixturePrompt[];
  /** Replaces the kernel's own single page. */
  page?(listed: Listed, cursor: string | undefined): Page | undefined;
  /** Awaited before a message is handled: may delay, throw an `RpcError`, or never settle. */
  received?(method: string, peer: Peer): unknown;
  /** Called after the response to a request was sent. */
  answered?(method: string, peer: Peer): void;
}
