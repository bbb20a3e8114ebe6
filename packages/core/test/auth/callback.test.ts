import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { visit } from '@turnbuckle/testing/authorization-server';
import { expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

/** The redirect URI of the sign-in page, and its state. */
function redirectOf(page: string): { redirect: URL; state: string } {
  const { searchParams } = new URL(page);
  return {
    redirect: new URL(searchParams.get('redirect_uri') ?? ''),
    state: searchParams.get('state') ?? '',
  };
}

/** Sends raw bytes and returns the first line of the response. */
async function sendRaw(port: string, bytes: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.end(bytes);
  return (await text(socket).catch(() => '')).split('\r\n')[0] ?? '';
}

const statusOf = async (url: string | URL, init?: RequestInit): Promise<number> =>
  (await fetch(url, init)).status;

it('S27: requests without the right state neither end nor break the sign-in', async () => {
  const { authorization, open } = await setStage();
  const runtime = await open();
  const seen: unknown[] = [];
  const prompts = {
    async open({ url }: { url: string }) {
      const { redirect, state } = redirectOf(url);
      const at = (query: string): string => `${redirect.href}?${query}`;
      seen.push(
        await statusOf(at('code=stolen&state=wrong')),
        await statusOf(at('code=stolen')),
        await statusOf(at(`code=stolen&state=${state.slice(1)}x`)),
        await statusOf(at('error=access_denied&state=wrong')),
        await statusOf(at(`code=stolen&state=${state}`), { method: 'POST' }),
        await statusOf(new URL(`/callback?code=stolen&state=${state}`, redirect)),
        await sendRaw(redirect.port, 'GET // HTTP/1.1\r\nhost: x\r\n\r\n'),
        await sendRaw(redirect.port, 'GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n'),
        await sendRaw(
          redirect.port,
          `GET ${redirect.pathname}?code=stolen&state=${state} HTTP/1.1\r\nhost: attacker.example\r\n\r\n`,
        ),
        await sendRaw(redirect.port, '\0\0\0'),
      );
      await visit(url);
      seen.push(await statusOf(at(`code=again&state=${state}`)).catch(() => 'closed'));
    },
  };
  expect(await runtime.signIn('web', { prompts })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(seen.slice(0, 6)).toEqual([400, 400, 400, 400, 404, 404]);
  expect(seen.slice(6, 9)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('404')));
  expect([400, 'closed']).toContain(seen.at(-1));
  expect(authorization.requestLog.count('token')).toBe(1);
});

it('S27: the receiver listens on 127.0.0.1 only, on an unguessable port and path, for one sign-in', async () => {
  const { open } = await setStage();
  const runtime = await open();
  const redirects: URL[] = [];
  const listeners: string[] = [];
  const prompts = {
    async open({ url }: { url: string }) {
      const { redirect } = redirectOf(url);
      redirects.push(redirect);
      const port = Number(redirect.port).toString(16).toUpperCase().padStart(4, '0');
      for (const table of ['tcp', 'tcp6']) {
        const lines = readFileSync(`/proc/net/${table}`, 'utf8').split('\n');
        // The second column is the local address; the fourth is 0A for a listening socket.
        const own = lines.map((line) => line.trim().split(/\s+/)).filter((columns) => columns[3] === '0A');
        listeners.push(...own.flatMap(([, address = '']) => (address.endsWith(`:${port}`) ? [address] : [])));
      }
      await visit(url);
    },
  };
  await runtime.signIn('web', { prompts });
  await runtime.signOut('web');
  await runtime.signIn('web', { prompts });
  expect(listeners.map((address) => address.split(':')[0])).toEqual(['0100007F', '0100007F']);
  expect(redirects.map(({ hostname }) => hostname)).toEqual(['127.0.0.1', '127.0.0.1']);
  for (const { pathname } of redirects) expect(pathname).toMatch(/^\/callback\/[\w-]{22}$/);
  expect(new Set(redirects.map(({ pathname }) => pathname)).size).toBe(2);
  for (const redirect of redirects) await expect(fetch(redirect)).rejects.toThrow();
});

it('S27: two concurrent sign-ins both succeed', async () => {
  const { authorization, open } = await setStage();
  const first = await open();
  const second = await open({ type: 'oauth', account: 'work' });
  let bothThere = (): void => {};
  const together = new Promise<void>((resolve) => {
    bothThere = resolve;
  });
  const pages: string[] = [];
  const prompts = {
    async open({ url }: { url: string }) {
      pages.push(url);
      if (pages.length === 2) bothThere();
      await together;
      await visit(url);
    },
  };
  await Promise.all([first.signIn('web', { prompts }), second.signIn('web', { prompts })]);
  expect([await echo(first), await echo(second)]).toEqual(['hi', 'hi']);
  expect(new Set(pages.map((page) => redirectOf(page).redirect.port)).size).toBe(2);
  expect(authorization.requestLog.granted('authorization_code')).toBe(2);
});

it('reports a configured port that is in use', async () => {
  const { server, open, prompts } = await setStage();
  const runtime = await open({
    type: 'oauth',
    redirectUri: `http://127.0.0.1:${new URL(server.url).port}/callback`,
  });
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    hint: expect.stringContaining('--paste'),
  });
});

it('a page that cannot be opened ends the wait and closes the receiver', async () => {
  const { open } = await setStage();
  const runtime = await open();
  const pages: string[] = [];
  const prompts = {
    open({ url }: { url: string }) {
      pages.push(url);
      throw new Error('no screen');
    },
  };
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ server: 'web' });
  await expect(fetch(redirectOf(pages[0] ?? '').redirect)).rejects.toThrow();
});

it('a cancelled sign-in ends the wait and closes the receiver', async () => {
  const { open } = await setStage();
  const runtime = await open();
  const abort = new AbortController();
  const pages: string[] = [];
  const prompts = {
    open({ url }: { url: string }) {
      pages.push(url);
      setTimeout(() => abort.abort(), 20);
    },
  };
  await expect(runtime.signIn('web', { prompts, signal: abort.signal })).rejects.toMatchObject({
    code: 'CALL_CANCELLED',
  });
  await expect(fetch(redirectOf(pages[0] ?? '').redirect)).rejects.toThrow();
});

it('closing the runtime ends the wait and closes the receiver', async () => {
  const { open } = await setStage();
  const runtime = await open();
  const pages: string[] = [];
  const prompts = {
    open({ url }: { url: string }) {
      pages.push(url);
      setTimeout(() => void runtime.close(), 20);
    },
  };
  await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  await expect(fetch(redirectOf(pages[0] ?? '').redirect)).rejects.toThrow();
});
