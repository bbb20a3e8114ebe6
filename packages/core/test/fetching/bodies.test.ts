import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  createGuardedFetch,
  type GuardedFetchOptions,
  type GuardedRequest,
} from '../../src/fetching/guarded-fetch.js';
import { startServer } from './canary.js';

const MEBIBYTE = 1024 * 1024;

async function fetched(
  answer: (response: ServerResponse) => void,
  options: GuardedFetchOptions & GuardedRequest = {},
) {
  const server = await startServer((_request, response) => answer(response));
  const fetch = createGuardedFetch({ ...options, allowedOrigins: [server.origin] });
  return fetch(server.origin, options);
}

const refusedFor = (reason: string): object => ({ code: 'FETCH_REFUSED', data: { reason } });

/** Writes endlessly, as fast as the other side reads; reports how much was sent. */
function endless(response: ServerResponse, chunk: Buffer): { sent(): number; closed: Promise<void> } {
  let bytes = 0;
  const pump = (): void => {
    let more = true;
    while (more && !response.destroyed) {
      more = response.write(chunk);
      bytes += chunk.length;
    }
  };
  response.on('drain', pump);
  const closed = new Promise<void>((resolve) => response.on('close', () => resolve()));
  pump();
  return { sent: () => bytes, closed };
}

describe('sizes', () => {
  it('an endless body is rejected, and its connection is closed', async () => {
    let flow: ReturnType<typeof endless> | undefined;
    const outcome = fetched((response) => {
      flow = endless(response, Buffer.alloc(64 * 1024, 'x'));
    });
    await expect(outcome).rejects.toMatchObject(refusedFor('size'));
    await flow?.closed;
    // The limit and the socket buffers of both sides.
    expect(flow?.sent()).toBeLessThan(32 * MEBIBYTE);
  });

  it('a body with a too large content-length is not read', async () => {
    const outcome = fetched((response) => {
      response.writeHead(200, { 'content-length': MEBIBYTE + 1 }).flushHeaders();
    });
    await expect(outcome).rejects.toMatchObject(refusedFor('size'));
  });

  it('the limit itself is allowed, one byte more is not', async () => {
    const response = await fetched((answer) => answer.end('x'.repeat(1000)), { maxBytes: 1000 });
    expect((await response.text()).length).toBe(1000);
    const more = fetched((answer) => answer.end('x'.repeat(1001)), { maxBytes: 1000 });
    await expect(more).rejects.toMatchObject(refusedFor('size'));
  });

  it('many small chunks are one body', async () => {
    const response = await fetched((answer) => {
      const chunk = (index: number): string => `1\r\n${index % 10}\r\n`;
      const chunks = Array.from({ length: 100_000 }, (_, index) => chunk(index)).join('');
      answer.socket?.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    });
    expect(await response.text()).toBe('0123456789'.repeat(10_000));
  });

  it('headers without end are an error', async () => {
    const outcome = fetched((response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      response.socket?.write(`x: ${'y'.repeat(100_000)}\r\n\r\n`);
    });
    await expect(outcome).rejects.toThrow(TypeError);
  });
});

/** Zeros, compressed to less than the limit: a gigabyte with gzip. */
const BOMBS: Record<string, () => Buffer> = {
  gzip: () => {
    const piece = gzipSync(Buffer.alloc(16 * MEBIBYTE), { level: 9 });
    return Buffer.concat(Array<Buffer>(64).fill(piece));
  },
  deflate: () => deflateSync(Buffer.alloc(128 * MEBIBYTE), { level: 9 }),
  br: () => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 24 };
    return brotliCompressSync(Buffer.alloc(128 * MEBIBYTE), { params });
  },
};

describe.each(Object.entries(BOMBS))('a decompression bomb with %s', (encoding, pack) => {
  it('is not unpacked beyond the limit', async () => {
    const bomb = pack();
    expect(bomb.length).toBeLessThan(MEBIBYTE);
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
    });
    const fetch = createGuardedFetch({ allowedOrigins: [server.origin] });
    global.gc?.();
    const before = process.memoryUsage().arrayBuffers;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    }, 1);
    try {
      await expect(fetch(server.origin)).rejects.toMatchObject(refusedFor('size'));
    } finally {
      clearInterval(watch);
    }
    expect(peak - before).toBeLessThan(64 * MEBIBYTE);
  });
});

describe('encodings', () => {
  const text = JSON.stringify({ some: 'text' });
  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
    ['identity, gzip', gzipSync(text)],
    ['', Buffer.from(text)],
  ])('%s is decompressed', async (encoding, body) => {
    const response = await fetched((answer) =>
      answer.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    expect(await response.json()).toEqual({ some: 'text' });
    expect(response.headers.has('content-encoding')).toBe(false);
  });

  const nested = (layers: number): Buffer =>
    layers === 0 ? Buffer.from(text) : gzipSync(nested(layers - 1));
  it.each([2, 5, 100])('%s layers are not decompressed', async (layers) => {
    const encoding = Array<string>(layers).fill('gzip').join(', ');
    const outcome = fetched((answer) =>
      answer.writeHead(200, { 'content-encoding': encoding }).end(nested(layers)),
    );
    await expect(outcome).rejects.toMatchObject(refusedFor('encoding'));
  });

  it('encodings in separate headers count as layers too', async () => {
    const outcome = fetched((answer) => {
      answer.writeHead(200, [
        ['content-encoding', 'gzip'],
        ['content-encoding', 'br'],
      ]);
      answer.end(brotliCompressSync(gzipSync(text)));
    });
    await expect(outcome).rejects.toMatchObject(refusedFor('encoding'));
  });

  it.each(['zstd', 'compress', 'gzip;q=1', 'toString'])('%s is not supported', async (encoding) => {
    const outcome = fetched((answer) => answer.writeHead(200, { 'content-encoding': encoding }).end(text));
    await expect(outcome).rejects.toMatchObject(refusedFor('encoding'));
  });

  it.each(['gzip', 'deflate', 'br'])('a body that only claims to be %s is rejected', async (encoding) => {
    const outcome = fetched((answer) =>
      answer.writeHead(200, { 'content-encoding': encoding }).end('\x00text'),
    );
    await expect(outcome).rejects.toMatchObject(refusedFor('encoding'));
  });
});

describe('time', () => {
  const timeoutMs = 300;
  it.each<[string, (response: ServerResponse) => void]>([
    ['no response', () => {}],
    ['a response without a body', (response) => response.flushHeaders()],
    [
      'a slow body',
      (response) => {
        const drip = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
    [
      'slow headers',
      (response) => {
        response.socket?.write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => response.socket?.write('x: y\r\n'), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
    [
      'endless 102 responses',
      (response) => {
        const drip = setInterval(() => response.writeProcessing(), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('%s: the request times out and the connection is closed', async (_what, answer) => {
    let closed: Promise<unknown> | undefined;
    const outcome = fetched(
      (response) => {
        closed = new Promise((resolve) => response.on('close', resolve));
        answer(response);
      },
      { timeoutMs },
    );
    await expect(outcome).rejects.toMatchObject(refusedFor('time'));
    await closed;
  });

  it('slow redirects share one time limit', async () => {
    const server = await startServer((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}x` }).end(), 120);
    });
    const fetch = createGuardedFetch({ allowedOrigins: [server.origin], timeoutMs, maxRedirects: 1000 });
    await expect(fetch(server.origin)).rejects.toMatchObject(refusedFor('time'));
  });

  it('a resolver that never answers causes a timeout', async () => {
    const fetch = createGuardedFetch({ lookup: () => new Promise(() => {}), timeoutMs });
    await expect(fetch('https://name.example')).rejects.toMatchObject(refusedFor('time'));
  });

  it('the caller can abort the request', async () => {
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const outcome = fetched(
      (response) => {
        response.flushHeaders();
        controller.abort(reason);
      },
      { signal: controller.signal },
    );
    await expect(outcome).rejects.toBe(reason);
    await expect(fetched((response) => response.end(), { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('content types', () => {
  const accept = ['application/json', 'application/jwt'];
  const answered = (type: string | undefined, status = 200) =>
    fetched(
      (response) => {
        if (type !== undefined) response.setHeader('content-type', type);
        response.writeHead(status).end('{}');
      },
      { accept },
    );

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/jwt'])(
    '%s is accepted',
    async (type) => {
      expect((await answered(type)).status).toBe(200);
    },
  );

  it.each(['text/html', 'application/json5', 'text/html; application/json', '', undefined])(
    '%s is refused',
    async (type) => {
      await expect(answered(type)).rejects.toMatchObject(refusedFor('content-type'));
    },
  );

  it('an error response may have any type', async () => {
    expect((await answered('text/html', 404)).status).toBe(404);
  });
});

it('a network failure is not a refusal', async () => {
  const server = await startServer((request) => request.socket.destroy());
  const fetch = createGuardedFetch({
    allowedOrigins: [server.origin, 'https://name.example'],
    lookup: async () => [],
  });
  await expect(fetch(server.origin)).rejects.toThrow(TypeError);
  await expect(fetch('https://name.example')).rejects.toThrow(TypeError);
});
