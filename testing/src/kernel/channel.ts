/** What a transport may need to know about a message that it delivers. */
export interface DeliveryOptions {
  /** True for the response that ends a request. */
  readonly final: boolean;
  /** The HTTP status, for HTTP transports. */
  readonly status?: number;
}

/** Sends messages to the client: over a pipe, a socket, or the response of one HTTP request. */
export interface Channel {
  /** Sends one complete message in the framing of the transport. */
  deliver(text: string, note: DeliveryOptions): void;
  /** Writes bytes outside any framing; only hostile behaviours do this. */
  writeRaw(bytes: string | Uint8Array): void;
  /** Breaks the connection without closing it properly. */
  drop(): void;
}
