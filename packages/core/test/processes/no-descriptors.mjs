// A host with hardly any free descriptors: calls a server, which cannot be started, then frees them and calls again.
import { closeSync, openSync } from 'node:fs';
import { createRuntime } from 'turnbuckle';

const { servers, stateDir, spare } = JSON.parse(process.argv[2] ?? '{}');
const runtime = await createRuntime({ servers, stateDir });
// Loads what a call needs.
await runtime.callTool('warm', 'echo', { text: 'warm' });
const held = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  for (const descriptor of held.splice(0, spare)) closeSync(descriptor);
}
const code = await runtime.callTool('cold', 'echo', { text: 'cold' }, { timeoutMs: 5_000 }).then(
  () => 'ok',
  (error) => error.code,
);
for (const descriptor of held) closeSync(descriptor);
const after = await runtime.callTool('cold', 'echo', { text: 'later' }, { timeoutMs: 20_000 }).then(
  ({ content }) => content[0].text,
  (error) => error.code,
);
process.stdout.write(JSON.stringify({ code, after }));
await runtime.close();
