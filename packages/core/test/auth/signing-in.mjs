// A separate program that signs in and does nothing else. Arguments: the state directory, the address of the
// server, the method. Prints the page, waits for the user, and prints the outcome.
import { createInterface } from 'node:readline';
import { createRuntime } from 'turnbuckle';

const [stateDir, url, method] = process.argv.slice(2);
const print = (line) => process.stdout.write(`${line}\n`);
const runtime = await createRuntime({ servers: { web: { type: 'http', url } }, stateDir, environment: {} });
const prompts = {
  open: (page) => print(`page ${page.url}`),
  showCode: (page) => print(`page ${page.url}`),
  async paste() {
    for await (const line of createInterface({ input: process.stdin })) return line;
    return '';
  },
};
try {
  await runtime.signIn('web', { method, prompts });
  const result = await runtime.callTool('web', 'echo', { text: 'hi' });
  print(`said ${result.content[0].text}`);
} catch (error) {
  print(`failed ${error.code} ${error.message}`);
}
await runtime.close();
