/** What the loop needs of the steward. It tells the steward nothing about energy. */

export interface StewardNews {
  readonly type: string;
  readonly requestId: string;
  readonly data: unknown;
}

export interface StewardLink {
  sendRequest(request: {
    readonly type: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly priority: string;
  }): Promise<string>;
  /** Messages since the last poll. Must return at once. */
  pollMessages(): readonly StewardNews[];
  /** Energy since the last poll, in units. What was polled is lost if the process dies before it is recorded. */
  getSubAgentEnergyConsumption(): Promise<number> | number;
  /**
   * The same in two steps, for exact accounts across crashes: all rows that were not confirmed, and which of them are
   * recorded now. Rows may be returned again; `ref` is unique.
   */
  unconfirmedEnergy?(): Promise<ReadonlyArray<{ readonly ref: string; readonly thousandths: number }>>;
  confirmEnergy?(refs: readonly string[]): Promise<void>;
  hasActiveWork(): boolean;
  getStatus(id: string): Promise<unknown>;
  cancelRequest(id: string, reason: string): Promise<unknown>;
  /** No new steps start, and the running ones stop; `resume` repeats them. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  cancelAll?(): Promise<void>;
}
