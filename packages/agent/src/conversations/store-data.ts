/** What the store of conversations is given, and what it answers. */

export interface NewMessage {
  /** Absent: a new conversation. */
  readonly conversation?: string | undefined;
  /** The id of a new conversation. */
  readonly newId: string;
  readonly text: string;
  readonly at: number;
  /** Of a new conversation, in thousandths. */
  readonly budget: number;
  readonly maxConversations: number;
}

export type AddedMessage =
  | { readonly conversation: string; readonly number: number }
  | { readonly refused: 'unknown' }
  | { readonly refused: 'too-many'; readonly open: number };

export interface SettledCall {
  readonly id: string;
  readonly ok: boolean;
  readonly output: string;
  readonly at: number;
}

/** About a request to the steward. */
export interface StewardNote {
  readonly requestId: string;
  readonly text: string;
}

export interface ListFilter {
  readonly limit: number;
  /** Absent: all. */
  readonly isEnded?: boolean | undefined;
}
