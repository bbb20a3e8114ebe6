/** The address of a remote server, and the headers of each request. */
import type { HttpServer, ProxyServer, SseServer } from '../../../config/schema/schema.js';

/** A user name and password in an address belong in a header: no request may have them in its URL. */
export function withoutCredentials<Server extends HttpServer | SseServer>(config: Server): Server {
  const url = new URL(config.url);
  if (url.username === '' && url.password === '') return config;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return { ...config, url: url.href, headers: { authorization, ...config.headers } };
}

/** A hosted proxy is a Streamable HTTP server with an address below its base URL and the proxy's token. */
export function proxyTarget({ baseUrl, id, token, ...rest }: ProxyServer): HttpServer {
  const base = new URL(baseUrl);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${encodeURIComponent(id)}`;
  const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { ...rest, type: 'http', url: base.href, headers: { ...rest.headers, ...credential } };
}
