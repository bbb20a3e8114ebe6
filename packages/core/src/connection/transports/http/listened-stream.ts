/** The stream that the SDK opens with GET for what an older server sends by itself. */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { EventStream } from '../server-transport.js';

export class ListenedStream implements EventStream {
  isOpened = false;
  onOpened?: () => void;

  /** The same, and each opened stream is noticed. A resumed one repeats what it missed. */
  observe(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      if (init?.method === 'GET' && response.ok && !new Headers(init.headers).has('last-event-id')) {
        this.isOpened = true;
        this.onOpened?.();
      }
      return response;
    };
  }
}
