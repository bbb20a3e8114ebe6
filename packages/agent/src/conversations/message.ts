/** The messages of a conversation, as they are stored. Texts are bounded before they get here. */
import type { ToolCall, ToolOutput } from '@turnbuckle/model';

export type MessageContent =
  /** Written by the user. */
  | { readonly kind: 'user'; readonly text: string }
  /** Sent to the user. */
  | { readonly kind: 'reply'; readonly text: string; readonly isFollowUp?: boolean | undefined }
  /** What the model wrote. `outputs` are the answers to calls that were not sent to a server. */
  | {
      readonly kind: 'step';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly outputs: readonly ToolOutput[];
    }
  /** The result of a call, shortened for display. */
  | { readonly kind: 'result'; readonly tool: string; readonly ok: boolean; readonly text: string }
  /** For the agent, such as news of the steward. Untrusted text. */
  | { readonly kind: 'note'; readonly text: string }
  /** For the user: why there is no reply. */
  | { readonly kind: 'failure'; readonly code: string; readonly text: string };

export type StoredMessage = MessageContent & { readonly number: number; readonly at: number };

/** A call to a tool that the model asked for. */
export interface StoredCall {
  /** Its request id. */
  readonly id: string;
  readonly conversation: string;
  /** The number of the message of its step. */
  readonly step: number;
  /** The id that the model gave it. */
  readonly modelId: string;
  readonly tool: string;
  readonly state: 'running' | 'approval' | 'done';
  readonly output: string | undefined;
  readonly startedAt: number;
}

/** What people see: not what the model thinks, and not the notes for it. */
export const VISIBLE_KINDS = ['user', 'reply', 'result', 'failure'] as const;

export const MAX_USER_CHARACTERS = 32_000;
export const MAX_OUTPUT_CHARACTERS = 8_000;
const MAX_SHOWN_CHARACTERS = 500;

export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

export const toShown = (text: string): string => cut(text, MAX_SHOWN_CHARACTERS);
