import { describe, expect, it } from 'vitest';
import { withRuntime } from '../hostile/with-runtime.js';
import { answerAsOlder, ownHttpServer } from './own-http-server.js';

/** Ends the stream of the first call after an event with this id, and answers it when the call is resumed there. */
async function resumableServer(
  eventId: string,
): Promise<{ url: string; resumedAt: () => string | undefined }> {
  let resumedAt: string | undefined;
  let asked: number | undefined;
  const url = await ownHttpServer(
    (request, response) => {
      if (request.params?.name === 'slow') return;
      if (request.method !== 'tools/call') return answerAsOlder(request, response, ['slow', 'resumed']);
      asked = request.id;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`id: ${eventId}\ndata:\n\n`);
    },
    (response) => {
      const header = response.req.headers['last-event-id'];
      if (header === undefined) return void response.writeHead(405).end();
      resumedAt = Buffer.from(String(header), 'latin1').toString();
      const result = { content: [{ type: 'text', text: 'resumed' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked, result })}\n\n`);
    },
  );
  return { url, resumedAt: () => resumedAt };
}

describe('a broken stream whose last event id', () => {
  it.each(['plain-1', '事件-1', 'żółw', '🦀'])('is %j is resumed there', async (eventId) => {
    const { url, resumedAt } = await resumableServer(eventId);
    await withRuntime({ servers: { far: { url, era: 'legacy' } } }, async (runtime) => {
      const { content } = await runtime.callTool('far', 'resumed');
      expect(content).toEqual([{ type: 'text', text: 'resumed' }]);
      expect(resumedAt()).toBe(eventId);
    });
  });

  it.each(['a\u0001b', '\u007f'])('is %j fails its own call and no other', async (eventId) => {
    const { url, resumedAt } = await resumableServer(eventId);
    await withRuntime({ servers: { far: { url, era: 'legacy' } } }, async (runtime) => {
      const slow = runtime.callTool('far', 'slow', {}, { timeoutMs: 1_500 });
      await expect(runtime.callTool('far', 'resumed')).rejects.toMatchObject({
        code: 'CALL_OUTCOME_UNKNOWN',
      });
      expect(resumedAt()).toBeUndefined();
      await expect(slow).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    });
  });
});
