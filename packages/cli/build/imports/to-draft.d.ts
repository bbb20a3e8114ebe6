import type { ServerDraft } from './imported-server.js';
export type DraftOutcome =
  /** `unknown`: keys of ours that no other client has. */
  | {
      readonly draft: ServerDraft;
      readonly unknown: readonly string[];
    }
  | {
      readonly reason: string;
    };
/** Empty maps and lists are left out; so is `enabled` when it is true. */
export declare function toDraft(config: Readonly<Record<string, unknown>>): DraftOutcome;
