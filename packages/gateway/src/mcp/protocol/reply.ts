import type { IncomingHttpHeaders } from 'node:http';
import type { ResponseText } from '../../http/response-text.js';

/** The way back to a client for one of its requests: optional messages, then the response. */
export interface Reply {
  /** False: only the response can be sent. */
  readonly canStream: boolean;
  /** The headers of the HTTP request; undefined over stdio. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** A message that belongs to the request and comes before its response. */
  send(text: string): void;
  /** The response; `http` is its status, if any. Resolves when a large response has had its turn. */
  finish(text: ResponseText, http?: number): void | Promise<void>;
}
