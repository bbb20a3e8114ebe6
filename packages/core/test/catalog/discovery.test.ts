import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { makeSdkServer } from '@turnbuckle/testing/sdk-server';
import { createRuntime, type Runtime, type RuntimeEvents, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';

async function open(
  servers: Record<string, ServerInput>,
): Promise<{ runtime: Runtime; reads: RuntimeEvents['catalog.read'][] }> {
  const home = await temporaryDirectory();
  const runtime = await createRuntime({ stateDir: home.path, servers });
  onTestFinished(async () => {
    await runtime.close();
    await home.remove();
  });
  const reads: RuntimeEvents['catalog.read'][] = [];
  runtime.on('catalog.read', (event) => reads.push(event));
  return { runtime, reads };
}

describe('a reading of a list', () => {
  it('is told once, whoever wants it, and not for lists that a server does not have', async () => {
    const { runtime, reads } = await open({ demo: fixture('echo'), bare: fixture('paging') });
    await runtime.connectAll();
    await Promise.all([runtime.listPrompts(), runtime.listPrompts('demo'), runtime.listPrompts()]);
    await runtime.listPrompts();
    const told = reads.map(({ server, kind, reason, outcome }) => `${server} ${kind} ${reason} ${outcome}`);
    expect(told.sort()).toEqual([
      'bare tools connected ok',
      'demo prompts asked ok',
      'demo tools connected ok',
    ]);
  });
});

describe('what is known of a server', () => {
  it('is read again on a fresh link, resources and prompts when somebody asks', async () => {
    let made = 0;
    const server = () => {
      made += 1;
      const fresh = makeSdkServer();
      fresh.registerPrompt(`prompt-${made}`, {}, () => ({ messages: [] }));
      return fresh;
    };
    const { runtime, reads } = await open({ mine: { type: 'in-process', server } });
    await runtime.connectAll();
    const names = async () => (await runtime.listPrompts()).map(({ name }) => name);
    const before = await names();
    await runtime.reconnect('mine');
    const after = await names();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
    expect(reads.filter(({ kind }) => kind === 'prompts').map(({ reason }) => reason)).toEqual([
      'asked',
      'stale',
    ]);
  });

  it('follows the changes of a server that was removed just after one, and added again', async () => {
    const moving = fixture('list-changing');
    const { runtime } = await open({ moving });
    await runtime.connectAll();
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'early' });
    await runtime.setServers({});
    await runtime.setServers({ moving });
    await runtime.connectAll();
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'late' });
    await waitUntil(() => runtime.catalog.find('moving', 'late'));
  });
});
