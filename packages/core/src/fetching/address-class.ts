/** Classifies an IP address: public, or one of the non-public ranges. Unknown ranges are never public. */
import { BlockList, isIP, isIPv4 } from 'node:net';

export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'multicast'
  | 'reserved'
  | 'invalid';

type Ranges = readonly (readonly [AddressClass, BlockList])[];

const IPV4: Ranges = ranges('ipv4', {
  loopback: ['127.0.0.0/8'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  'link-local': ['169.254.0.0/16'],
  multicast: ['224.0.0.0/4'],
  reserved: [
    '0.0.0.0/8',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    // Looks public, but is the host agent on every machine of one large cloud.
    '168.63.129.16/32',
  ],
});

const IPV6: Ranges = ranges('ipv6', {
  loopback: ['::1/128'],
  private: ['fc00::/7', 'fec0::/10'],
  'link-local': ['fe80::/10'],
  multicast: ['ff00::/8'],
  // Protocol assignments with Teredo and benchmarks; 6to4; documentation. Tunnels can end at any IPv4 address.
  reserved: ['2001::/23', '2002::/16', '2001:db8::/32', '3fff::/20'],
});

const GLOBAL_UNICAST = ranges('ipv6', { public: ['2000::/3'] });

/** The class of an address in the notation of sockets and resolvers; a zone is ignored. */
export function addressClass(address: string): AddressClass {
  if (isIPv4(address)) return find(IPV4, address, 'ipv4') ?? 'public';
  const [ip = ''] = address.split('%');
  if (isIP(ip) !== 6) return 'invalid';
  const groups = groupsOf(ip);
  const embedded = embeddedIpv4(groups);
  if (embedded !== undefined) return addressClass(embedded);
  return (
    find(IPV6, ip, 'ipv6') ?? (isIsatap(groups) ? 'reserved' : find(GLOBAL_UNICAST, ip, 'ipv6')) ?? 'reserved'
  );
}

function ranges(family: 'ipv4' | 'ipv6', table: Partial<Record<AddressClass, readonly string[]>>): Ranges {
  const classes: readonly AddressClass[] = [
    'loopback',
    'private',
    'link-local',
    'multicast',
    'reserved',
    'public',
  ];
  return classes.map((name) => {
    const list = new BlockList();
    for (const subnet of table[name] ?? []) {
      const [network = '', bits] = subnet.split('/');
      list.addSubnet(network, Number(bits), family);
    }
    return [name, list];
  });
}

function find(table: Ranges, ip: string, family: 'ipv4' | 'ipv6'): AddressClass | undefined {
  return table.find(([, list]) => list.check(ip, family))?.[0];
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(ip: string): number[] {
  const [head = '', tail] = ip.split('::');
  const before = numbersOf(head);
  if (tail === undefined) return before;
  const after = numbersOf(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function numbersOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((text) => {
    if (!text.includes('.')) return [Number.parseInt(text, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The IPv4 address of an IPv4-mapped address, or of one with the well-known NAT64 prefix. */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const [a, b, c, d, e, f, high = 0, low = 0] = groups;
  const middleIsZero = c === 0 && d === 0 && e === 0;
  const mapped = a === 0 && b === 0 && middleIsZero && f === 0xff_ff;
  const translated = a === 0x64 && b === 0xff_9b && middleIsZero && f === 0;
  if (!mapped && !translated) return undefined;
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** An ISATAP-style tunnel whose IPv4 end is in the lower half, under any prefix. */
function isIsatap(groups: readonly number[]): boolean {
  return ((groups[4] ?? 0) & ~0x02_00) === 0 && groups[5] === 0x5e_fe;
}
