import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Connections } from '../../src/http/server/connections.js';

const ADA = { caller: { id: 'ada', capabilities: [] }, access: new Set(['call'] as const) };

/** Both ends of one connection. */
async function open(connections: Connections): Promise<{ client: Socket; socket: Socket }> {
  const server = createServer(connections.add);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.resume().on('error', () => {});
  return { client, socket };
}

it('a client that disconnects while its token is checked takes no slot', async () => {
  const connections = new Connections(10);
  for (let round = 0; round < 3; round += 1) {
    const { client, socket } = await open(connections);
    const closed = once(socket, 'close');
    client.destroy();
    await closed;
    // The token is identified only now.
    expect(connections.markAuthenticated(socket, ADA)).toBe(false);
    expect(connections.counts).toEqual({ open: 0, known: 0 });
  }
  const { socket } = await open(connections);
  expect(connections.markAuthenticated(socket, ADA)).toBe(true);
  expect(connections.counts).toEqual({ open: 1, known: 1 });
});
