/** The name of a new entry: as it was asked for, or from the name in the registry; never one that is taken. */
const MAX_LENGTH = 40;

/** The words in names of packages that say nothing. */
const NOISE = /(^|[-_.])(mcp|server|mcp-server|server-mcp)(?=$|[-_.])/gi;

export function chooseServerName(
  wanted: string | undefined,
  registryName: string,
  isTaken: (name: string) => boolean,
): string {
  const last = registryName.split('/').at(-1) ?? registryName;
  const plain = toName(wanted ?? last.replaceAll(NOISE, '$1')) || toName(last) || 'server';
  if (!isTaken(plain)) return plain;
  for (let count = 2; ; count += 1) if (!isTaken(`${plain}-${count}`)) return `${plain}-${count}`;
}

const toName = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_LENGTH)
    .replaceAll(/-+$/g, '')
    .toLowerCase();
