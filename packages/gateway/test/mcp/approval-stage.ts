/** A daemon with a server whose one tool needs approval, and clients of an agent in both eras. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';

export interface ApprovalStage {
  /** Its tool is `wipe`, at the daemon `up_wipe`. */
  readonly server: Upstream;
  readonly own: OwnDaemon;
  /** The agent's token. */
  readonly token: string;
  connect(era: 'legacy' | 'modern', capabilities?: object): Promise<Client>;
  close(): Promise<void>;
}

export async function openApprovalStage(daemon: object = {}): Promise<ApprovalStage> {
  const server = await openUpstream({ tools: [{ name: 'wipe', inputSchema: { type: 'object' } }] });
  const own = await ownDaemon({ servers: { up: { url: server.url } }, daemon });
  await own.daemon.configured.runtime.connectAll();
  const made = await own.post('/api/tokens', { name: 'agent', can: ['mcp_integration'], access: ['call'] });
  const token = String(made.body.token);
  const headers = { authorization: `Bearer ${token}` };
  return {
    server,
    own,
    token,
    connect: async (era, capabilities = {}) => {
      const client = new Client(
        { name: 'client', version: '1' },
        { capabilities, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
      );
      const address = new URL(`${own.daemon.url}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
      return client;
    },
    close: async () => {
      await own.close();
      await server.close();
    },
  };
}
