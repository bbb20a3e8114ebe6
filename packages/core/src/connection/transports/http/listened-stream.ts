/** The stream that the SDK opens with GET for what an older server sends by itself. */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { EventStream } from '../server-transport.js';

export class ListenedStream implements EventStream {
  isOpened = false;
  onOpened?: () => void;

  /** The same fetch, which also reports each opened stream. After a resumed one nothing is missed: the server repeats it. */
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
