import { installServers, PUBLISHED, type PublishedName } from './published-servers.mjs';

/** Runs before the suite: installs missing servers, and prints its progress. */
export default async function installOnce(): Promise<void> {
  const names = Object.keys(PUBLISHED) as PublishedName[];
  await installServers(names, (line) => void process.stdout.write(`${line}\n`));
}
