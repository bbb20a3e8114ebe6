import { expect, it } from 'vitest';
import { addressClass } from '../../src/fetching/address-class.js';
import { INSIDE, INSIDE_ANSWERS } from './inside-addresses.js';

it.each([
  // The first and the last address of each range, and their neighbours.
  ['0.255.255.255', 'reserved', '1.0.0.0', 'public'],
  ['9.255.255.255', 'public', '10.0.0.0', 'private'],
  ['10.255.255.255', 'private', '11.0.0.0', 'public'],
  ['100.63.255.255', 'public', '100.64.0.0', 'private'],
  ['100.127.255.255', 'private', '100.128.0.0', 'public'],
  ['126.255.255.255', 'public', '127.0.0.0', 'loopback'],
  ['127.255.255.255', 'loopback', '128.0.0.0', 'public'],
  ['168.63.129.15', 'public', '168.63.129.16', 'reserved'],
  ['169.253.255.255', 'public', '169.254.0.0', 'link-local'],
  ['169.254.255.255', 'link-local', '169.255.0.0', 'public'],
  ['172.15.255.255', 'public', '172.16.0.0', 'private'],
  ['172.31.255.255', 'private', '172.32.0.0', 'public'],
  ['191.255.255.255', 'public', '192.0.0.0', 'reserved'],
  ['192.0.0.255', 'reserved', '192.0.1.0', 'public'],
  ['192.0.2.255', 'reserved', '192.0.3.0', 'public'],
  ['192.88.98.255', 'public', '192.88.99.0', 'reserved'],
  ['192.167.255.255', 'public', '192.168.0.0', 'private'],
  ['192.168.255.255', 'private', '192.169.0.0', 'public'],
  ['198.17.255.255', 'public', '198.18.0.0', 'reserved'],
  ['198.19.255.255', 'reserved', '198.20.0.0', 'public'],
  ['198.51.99.255', 'public', '198.51.100.0', 'reserved'],
  ['203.0.112.255', 'public', '203.0.113.0', 'reserved'],
  ['223.255.255.255', 'public', '224.0.0.0', 'multicast'],
  ['239.255.255.255', 'multicast', '240.0.0.0', 'reserved'],
  ['254.255.255.255', 'reserved', '255.255.255.255', 'reserved'],
  ['::', 'reserved', '::1', 'loopback'],
  ['::2', 'reserved', '::ffff:0:0', 'reserved'],
  ['::ffff:8.8.8.8', 'public', '::ffff:10.0.0.1', 'private'],
  ['::fffe:8.8.8.8', 'reserved', '::1:ffff:8.8.8.8', 'reserved'],
  ['64:ff9b::8.8.8.8', 'public', '64:ff9b::192.168.1.1', 'private'],
  ['64:ff9a::8.8.8.8', 'reserved', '64:ff9b::1:8.8.8.8', 'reserved'],
  ['64:ff9b:1::8.8.8.8', 'reserved', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved', '2000::', 'public'],
  ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'public', '2001::', 'reserved'],
  ['2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved', '2001:200::', 'public'],
  ['2001:db7:ffff::', 'public', '2001:db8::', 'reserved'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved', '2001:db9::', 'public'],
  ['2001:ffff:ffff::', 'public', '2002::', 'reserved'],
  ['2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved', '2003::', 'public'],
  ['3ffe:ffff:ffff::', 'public', '3fff::', 'reserved'],
  ['3fff:fff:ffff::', 'reserved', '3fff:1000::', 'public'],
  ['3fff:ffff:ffff::', 'public', '4000::', 'reserved'],
  ['fbff:ffff::', 'reserved', 'fc00::', 'private'],
  ['fdff:ffff::', 'private', 'fe00::', 'reserved'],
  ['fe7f:ffff::', 'reserved', 'fe80::', 'link-local'],
  ['febf:ffff::', 'link-local', 'fec0::', 'private'],
  ['feff:ffff::', 'private', 'ff00::', 'multicast'],
  ['2606:4700::5efe:10.0.0.1', 'reserved', '2606:4700::5eff:10.0.0.1', 'public'],
  ['2606:4700::1111', 'public', '2a00:1450:4001:80b::200e', 'public'],
  ['::ffff:192.88.99.1%2', 'reserved', '::ffff:192.88.98.1%2', 'public'],
  ['fe80::1%eth0', 'link-local', '2606:4700::1111%eth0', 'public'],
])('%s is %s, %s is %s', (left, leftClass, right, rightClass) => {
  expect([addressClass(left), addressClass(right)]).toEqual([leftClass, rightClass]);
});

it.each([
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '1.2.3.4.5',
  ':::',
  '[::1]',
  '1.2.3.4%eth0',
  '::1\0',
  ' ::1',
])('an invalid address (%j) has no class', (text) => {
  expect(addressClass(text)).toBe('invalid');
});

it('no address of the table of inside addresses is public', () => {
  const answers = [...INSIDE.map(([, address]) => address), ...INSIDE_ANSWERS];
  expect(answers.filter((address) => addressClass(address) === 'public')).toEqual([]);
});
