// From a written file to a callable new tool, with 20 servers running, without the new server's own start time.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { ours } from '../subjects.mjs';

const figure = 'hot-reload';
const count = 20;

const toConfig = ({ command, args }, generation) => ({
  command,
  args,
  description: `generation ${generation}`,
});

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runHotReload(context) {
  if (!context.wants(figure)) return;
  context.note(figure);
  const { createConfiguredRuntime, createRuntime } = await import('turnbuckle');
  const { preload } = await import('turnbuckle/host');
  await preload();
  const file = join(context.scratchDirectory, 'reload.json');
  const servers = Array.from({ length: count }, (_, index) => stdioServer(`server${index}`, { tools: 10 }));
  const write = async (generation) => {
    const entries = servers.map((server, index) => [
      server.name,
      toConfig(server, index === 0 ? generation : 0),
    ]);
    await writeFile(`${file}.new`, JSON.stringify({ servers: Object.fromEntries(entries) }));
    await rename(`${file}.new`, file);
  };
  const stateDir = join(context.scratchDirectory, 'reload-state');
  /** The start time of the same server alone. */
  const ownStart = async () => {
    const runtime = await createRuntime({ stateDir, servers: { alone: toConfig(servers[0], 0) } });
    const start = performance.now();
    await runtime.connectAll();
    const elapsedMs = performance.now() - start;
    await runtime.close();
    return elapsedMs;
  };
  try {
    await write(0);
    const environment = {
      ...process.env,
      HOME: context.scratchDirectory,
      XDG_CONFIG_HOME: '',
      MCP_CONFIG_PATH: '',
    };
    const configured = await createConfiguredRuntime({
      cwd: context.scratchDirectory,
      files: [file],
      environment,
      stateDir,
    });
    await configured.runtime.connectAll();
    let reloaded = () => {};
    const stop = await configured.follow(() => reloaded());
    for (let round = 0; round < context.rounds; round++) {
      await calm();
      const alone = await ownStart();
      const done = new Promise((resolve) => {
        reloaded = resolve;
      });
      const start = performance.now();
      await write(round + 1);
      await done;
      await configured.runtime.callTool('server0', 'echo', { text: 'hi' });
      context.measurements.record({
        figure,
        subject: ours.id,
        round,
        value: performance.now() - start - alone,
      });
    }
    await stop();
    await configured.runtime.close();
  } catch (error) {
    context.measurements.fail({ figure, subject: ours.id, error });
  }
}
