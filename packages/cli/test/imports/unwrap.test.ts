import { describe, expect, it } from 'vitest';
import { unwrap } from '../../src/imports/entries/unwrap.js';
import type { ServerDraft } from '../../src/imports/index.js';

const URL = 'https://mcp.example.com/mcp';
const run = (line: string, env?: Record<string, string>): ServerDraft => {
  const [command = '', ...args] = line.split(' ').map((word) => word.replaceAll('~', ' '));
  return { type: 'stdio', command, args, ...(env === undefined ? {} : { env }) };
};

describe('a wrapper that is removed', () => {
  it.each<[string, Partial<ServerDraft>]>([
    [`npx mcp-remote ${URL}`, {}],
    [`npx -y mcp-remote@latest ${URL}`, {}],
    [`npx.cmd -y mcp-remote@0.1.16 ${URL} 3334`, {}],
    [`cmd /c npx -y mcp-remote ${URL}`, {}],
    [`C:\\Windows\\cmd.exe /d /s /C npx mcp-remote ${URL}`, {}],
    [`bunx mcp-remote ${URL}`, {}],
    [`bun x mcp-remote ${URL} --debug`, {}],
    [`pnpm dlx mcp-remote@1 ${URL}`, {}],
    [`yarn dlx -q mcp-remote ${URL}`, {}],
    [`npm exec -y -- mcp-remote ${URL}`, {}],
    [`/usr/local/bin/mcp-remote ${URL}`, {}],
    [`npx mcp-remote ${URL} --transport sse-only`, { type: 'sse' }],
    [`npx mcp-remote ${URL} --transport http-first`, {}],
    [`npx mcp-remote http://10.0.0.1/mcp --allow-http`, { url: 'http://10.0.0.1/mcp' }],
    [`npx mcp-remote http://localhost:3000/mcp`, { url: 'http://localhost:3000/mcp' }],
    [`npx mcp-remote ${URL} --header A:~1 --header=B:2`, { headers: { A: '1', B: '2' } }],
    [`npx mcp-remote ${URL} --header A:\${TOKEN}`, { headers: { A: `\${TOKEN}` } }],
    [`npx mcp-remote ${URL} --ignore-tool drop`, { excludeTools: ['drop'] }],
    [`uvx mcp-proxy ${URL}`, { type: 'sse' }],
    [`uv tool run mcp-proxy==0.8 --transport streamablehttp ${URL}`, {}],
    [`uvx mcp-proxy -H A 1 ${URL}`, { type: 'sse', headers: { A: '1' } }],
    [`npx -y supergateway --streamableHttp ${URL}`, {}],
    [
      `npx -y supergateway --sse ${URL} --oauth2Bearer t`,
      { type: 'sse', headers: { Authorization: 'Bearer t' } },
    ],
  ])('%s', (line, expected) => {
    const { config, notes } = unwrap(run(line));
    expect(config).toEqual({ type: 'http', url: URL, ...expected });
    expect(notes.join()).toContain('is removed');
  });

  it('keeps the OAuth client that it was given', () => {
    const info = JSON.stringify({ client_id: 'abc', client_secret: `\${SECRET}` });
    const metadata = JSON.stringify({ scope: 'read write' });
    const args = ['-y', 'mcp-remote', URL, '3334', '--static-oauth-client-info', info];
    const more = ['--static-oauth-client-metadata', metadata];
    expect(unwrap({ type: 'stdio', command: 'npx', args: [...args, ...more] }).config).toEqual({
      type: 'http',
      url: URL,
      auth: {
        type: 'oauth',
        clientId: 'abc',
        clientSecret: `\${SECRET}`,
        redirectUri: 'http://localhost:3334/oauth/callback',
        scopes: ['read', 'write'],
      },
    });
  });

  it('moves the value of a variable into the header that used it', () => {
    const line = `npx mcp-remote ${URL} --header Authorization:\${AUTH_HEADER}`;
    expect(unwrap(run(line, { AUTH_HEADER: `Bearer \${TOKEN}` })).config.headers).toEqual({
      Authorization: `Bearer \${TOKEN}`,
    });
    // A client without placeholders passes the text to the wrapper unchanged.
    const literal = `npx mcp-remote ${URL} --header Authorization:$\${AUTH_HEADER}`;
    expect(unwrap(run(literal, { AUTH_HEADER: 'Bearer t' })).config.headers).toEqual({
      Authorization: 'Bearer t',
    });
    expect(unwrap(run(`uvx mcp-proxy ${URL}`, { API_ACCESS_TOKEN: 't' })).config.headers).toEqual({
      Authorization: 'Bearer t',
    });
  });

  it('keeps the settings that apply to a remote server too', () => {
    const { config } = unwrap({
      ...run(`npx mcp-remote ${URL}`),
      cwd: '/x',
      enabled: false,
      callTimeoutMs: 5,
    });
    expect(config).toEqual({ type: 'http', url: URL, enabled: false, callTimeoutMs: 5 });
  });

  it('reports that a sandbox ends with the process that was in it', () => {
    const { config, notes } = unwrap({ ...run(`npx mcp-remote ${URL}`), sandbox: 'offline' });
    expect(config).toEqual({ type: 'http', url: URL });
    expect(notes.join()).toContain('the sandbox is removed');
  });

  it('starts programs without cmd /c', () => {
    expect(unwrap(run('cmd /c npx -y pkg')).config).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'pkg'],
    });
  });
});

describe('a command that is unchanged', () => {
  it.each([
    `npx mcp-remote ${URL} 3334 --static-oauth-client-info {}`,
    `npx mcp-remote ${URL} 3334 --static-oauth-client-info @client.json`,
    `npx mcp-remote ${URL} 3334 --static-oauth-client-info {"client_id":"a","other":"b"}`,
    `npx mcp-remote ${URL} --static-oauth-client-info {"client_id":"a"}`,
    `npx mcp-remote ${URL} 3334 --host 10.0.0.1 --static-oauth-client-info {"client_id":"a"}`,
    `npx mcp-remote ${URL} --static-oauth-client-metadata {"client_name":"a"}`,
    `npx mcp-remote ${URL} --header Authorization:t --static-oauth-client-metadata {"scope":"a"}`,
    `npx mcp-remote ${URL} --unknown`,
    `npx mcp-remote ${URL} --header`,
    `npx mcp-remote ${URL} --header nocolon`,
    `npx mcp-remote ${URL} --ignore-tool delete*`,
    `npx mcp-remote ${URL} extra words`,
    `npx mcp-remote http://10.0.0.1/mcp`,
    `npx mcp-remote ftp://x.example.com`,
    `npx mcp-remote`,
    `npx --package mcp-remote mcp-remote ${URL}`,
    `npx -y mcp-remote-client ${URL}`,
    `npx -y @other/mcp-remote ${URL}`,
    `uvx mcp-proxy --port 8080 my-server`,
    `uvx mcp-proxy my-server`,
    `npx -y supergateway --stdio my-server`,
    `npx -y supergateway --sse ${URL} --streamableHttp ${URL}`,
    `docker run -i --rm mcp/fetch`,
    `cmd /c npx~-y~pkg`,
    `cmd /k npx pkg`,
    `npx -y pkg`,
  ])('%s', (line) => {
    expect(unwrap(run(line)).config).toEqual(run(line));
  });

  it('when a variable would be lost', () => {
    const config = run(`npx mcp-remote ${URL}`, { HTTPS_PROXY: 'http://proxy' });
    expect(unwrap(config).config).toEqual(config);
    expect(unwrap(config).notes.join()).toContain('kept because');
  });
});
