/** A server that chooses the names of its tools cannot make two of them have one hash. */
import { expect, it } from 'vitest';
import { toToolName } from '../../src/catalog/names.js';

/** Two endings for which the 64-bit FNV-1a hashes of both pairs, `["docs","…"]`, are equal: found in two minutes. */
const ENDINGS = ['fagciablnajigeia', 'ndknegjelmjanfgb'];
const STEM = 'read_the_page_of_the_handbook_with_this_title_';

function fnv64(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value;
}

// requirement T2
it('gives names of their own to pairs that collide under a hash without cryptography', () => {
  const tools = ENDINGS.map((ending) => `${STEM}${ending}`);
  const hashes = tools.map((tool) => fnv64(JSON.stringify(['docs', tool])));
  expect(hashes[0]).toBe(hashes[1]);
  const names = tools.map((tool) => toToolName('mcp__server__tool', { server: 'docs', tool }));
  expect(names[0]).not.toBe(names[1]);
  for (const name of names) expect(name).toMatch(/^mcp__docs__read_the_page.*_x[0-9a-z]{13}$/);
});

it('never changes: names are in rules, allow lists and prompts', () => {
  const tool = 'a tool with spaces';
  expect(toToolName('server_tool', { server: 'demo', tool })).toBe('demo_a-tool-with-spaces_xdr05rwr82l4rk');
});
