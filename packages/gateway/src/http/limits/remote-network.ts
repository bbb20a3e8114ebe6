/** The network that a remote address stands for: one IPv4 address, or an IPv6 /64, which usually belongs to one user. */
export function remoteNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  // IPv4 mapped to IPv6: ::ffff:127.0.0.1
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const [bare = ''] = address.split('%');
  const [head = '', tail] = bare.split('::');
  const left = groups(head);
  const right = groups(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(8 - left.length - right.length, 0);
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':');
}

const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
