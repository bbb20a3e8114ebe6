// node e2e/real-servers/install.mjs [name ...]: installs all published servers of the suite, or the named ones.
import { installServers, PUBLISHED } from './published-servers.mjs';

const known = /** @type {import('./published-servers.mjs').PublishedName[]} */ (Object.keys(PUBLISHED));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.some((each) => each === name));
if (unknown.length > 0) {
  process.stderr.write(`No such server: ${unknown.join(', ')}. Choose from: ${known.join(', ')}.\n`);
  process.exit(2);
}

try {
  const names = asked.length === 0 ? known : known.filter((name) => asked.includes(name));
  await installServers(names, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`ready: ${names.join(', ')}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
