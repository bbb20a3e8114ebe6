import type { Channel } from './channel.js';
import type { JsonObject, RequestId } from './json.js';
import type { Era } from './revisions.js';

export type Changed = 'tools' | 'resources' | 'prompts';

/** Tells clients what changed, each in the way its era wants. */
export interface Announcer {
  /** A list changed. */
  changed(kind: Changed): void;
  /** A resource changed; only its subscribers hear of it. */
  updated(uri: string): void;
}

/** What is put to the client's user or model. */
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
  /** Set by a tool that asks also what the client does not offer. */
  rude: boolean;
  /** Reports progress, if the client asked for it. */
  progress(progress: number, total: number, message?: string): void;
  /** Asks the client; in the modern era the tool runs again from its start once the answer is there. */
  ask(key: string, question: Question): Promise<JsonObject>;
  /** What the client says that it answers. */
  readonly offered: JsonObject;
}

/** A tool: what the list shows, untouched, and what a call does. */
export interface FixtureTool {
  readonly definition: JsonObject;
  /** Answers the call's result; throw `RpcError` for a JSON-RPC error, return `ANSWERED` after answering by hand. */
  run(args: JsonObject, call: Call): unknown;
}

/** A resource or (with `uriTemplate` in its definition) a template. */
export interface FixtureResource {
  readonly definition: JsonObject;
  /** The contents of the URI, or undefined when it is not this one's. */
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

/** Who sent a message: `revision` is set once the handshake was made. */
export interface Peer {
  readonly revision: string | undefined;
}

/** Everything a fixture decides; all but the name may be left out. The arrays may change while it runs. */
export interface Behaviour {
  readonly name: string;
  readonly instructions?: string;
  /** What it calls itself, in place of a name made of the fixture's. */
  readonly info?: JsonObject;
  readonly tools?: FixtureTool[];
  readonly resources?: FixtureResource[];
  readonly templates?: FixtureResource[];
  readonly prompts?: FixturePrompt[];
  /** Replaces the kernel's own single page. */
  page?(listed: Listed, cursor: string | undefined): Page | undefined;
  /** Awaited before a message is looked at: may delay, throw an `RpcError`, or never settle. */
  received?(method: string, peer: Peer): unknown;
  /** Called after the answer to a request left. */
  answered?(method: string, peer: Peer): void;
}
