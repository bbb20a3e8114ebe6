/** What the loop needs of the steward. It tells the steward nothing about energy. */

export const NEWS_TYPES = ['completion', 'error', 'tool_available'] as const;

export interface StewardNews {
  readonly number: number;
  readonly type: string;
  readonly requestId: string;
  readonly data: unknown;
}

export interface StewardReport {
  /** About requests of the caller, in order: a part of them if there are many. */
  readonly news: readonly StewardNews[];
  /** The number of the last message that was looked at. */
  readonly readTo: number;
  /** All rows that were not confirmed. They may be returned again; `ref` is unique. */
  readonly energy: ReadonlyArray<{
    readonly ref: string;
    readonly thousandths: number;
    /** When it was used, in milliseconds since 1970. */
    readonly at: number;
  }>;
  /** Whether requests wait for a worker or have one: of anybody, and of the caller. */
  readonly hasWork: boolean;
  readonly hasOwnWork: boolean;
}

export interface StewardLink {
  /** `after`: the number of the last message that was read. */
  poll(question: {
    readonly caller: string;
    /** What the agent should know at once; progress it can ask for. */
    readonly types: typeof NEWS_TYPES;
    readonly after: number;
  }): Promise<StewardReport>;
  /** These are recorded. */
  confirmEnergy(refs: readonly string[]): Promise<void>;
  /** Of the requests of the caller, no new steps start, and the running ones stop; `resume` repeats them. */
  pause(caller: string): Promise<void>;
  resume(): Promise<void>;
  /** Cancels the requests of the caller. */
  cancelAllOf(caller: string, reason: string): Promise<void>;
}
