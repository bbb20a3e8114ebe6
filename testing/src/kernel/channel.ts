/** What a carrier may want to know about a message it delivers. */
export interface DeliveryNote {
  /** True for the answer that ends a request. */
  readonly final: boolean;
  /** HTTP status, for carriers that have one. */
  readonly status?: number;
}

/** The way back to the client: a pipe, a socket, or the answer of one HTTP request. */
export interface Channel {
  /** Sends one whole message in the carrier's framing. */
  deliver(text: string, note: DeliveryNote): void;
  /** Writes bytes outside any framing; only hostile behaviours do this. */
  leak(bytes: string | Uint8Array): void;
  /** Breaks the line without a goodbye. */
  drop(): void;
}
