import { installServers, PUBLISHED, type PublishedName } from './published-servers.mjs';

/** Before the suite: installs what is missing, telling what it does. */
export default async function installOnce(): Promise<void> {
  const names = Object.keys(PUBLISHED) as PublishedName[];
  await installServers(names, (line) => void process.stdout.write(`${line}\n`));
}
