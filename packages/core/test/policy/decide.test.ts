import { describe, expect, it } from 'vitest';
import { type Caller, findGrant, possibleMeanings } from '../../src/policy/capabilities.js';
import { decide, type PolicyOptions } from '../../src/policy/decide.js';

const servers: Record<string, string[]> = {
  github: ['create_issue', 'search'],
  a: ['b', 'b_c'],
  a_b: ['c'],
  x: [],
};
const known = { hasServer: (name: string) => name in servers };
const options = (more: Partial<PolicyOptions> = {}): PolicyOptions => ({
  known,
  serverPolicy: () => ({ trusted: false, requires: [] }),
  ...more,
});
const agent = (...capabilities: string[]): Caller => ({ id: 'agent', capabilities });
const issue = { server: 'github', tool: 'create_issue', kind: 'tool', hints: {} } as const;

describe('capabilities', () => {
  it.each([
    ['mcp_integration', 'github', 'create_issue', true],
    ['mcp_github', 'github', 'search', true],
    ['mcp_github_create_issue', 'github', 'create_issue', true],
    ['mcp_github_create_issue', 'github', 'search', false],
    ['mcp:github/search', 'github', 'search', true],
    ['mcp:github', 'github', 'search', true],
    ['mcp_x', 'github', 'search', false],
  ])('%s for %s/%s: %s', (word, server, tool, granted) => {
    expect(findGrant(agent(word), { server, tool }, known).granted).toBe(granted);
  });

  it('an ambiguous capability grants nothing and is reported with its meanings', () => {
    expect(possibleMeanings('mcp_a_b', known)).toEqual(['mcp:a_b', 'mcp:a/b']);
    const grant = findGrant(agent('mcp_a_b'), { server: 'a', tool: 'b' }, known);
    expect(grant).toEqual({
      granted: false,
      ambiguous: [{ word: 'mcp_a_b', meanings: ['mcp:a_b', 'mcp:a/b'] }],
    });
    expect(findGrant(agent('mcp_a_b'), { server: 'a_b', tool: 'c' }, known).granted).toBe(false);
    expect(findGrant(agent('mcp_a_b_c'), { server: 'a_b', tool: 'c' }, known).granted).toBe(false);
    expect(findGrant(agent('mcp:a/b'), { server: 'a', tool: 'b' }, known).granted).toBe(true);
  });
});

describe('a capability of a caller', () => {
  it('means the same whatever is connected: only the configured servers count', () => {
    // The same capability for a server that has the tool, does not have it, or was never connected.
    const one = { hasServer: (name: string) => name === 'a' };
    expect(possibleMeanings('mcp_a_b_c', one)).toEqual(['mcp:a/b_c']);
    const two = { hasServer: (name: string) => name === 'a' || name === 'a_b' };
    expect(possibleMeanings('mcp_a_b_c', two)).toEqual(['mcp:a/b_c', 'mcp:a_b/c']);
    expect(possibleMeanings('mcp_a_b', two)).toEqual(['mcp:a_b', 'mcp:a/b']);
  });
});

describe('decide', () => {
  it('allows the host by default, and follows a default that was set', () => {
    expect(decide(undefined, issue, options()).action).toBe('allow');
    expect(decide(undefined, issue, options({ defaultDecision: 'deny' })).action).toBe('deny');
  });

  it('hides from an agent what it has no capability for', () => {
    expect(decide(agent(), issue, options())).toMatchObject({ action: 'deny', hidden: true });
  });

  it('requires approval for what an agent may call', () => {
    expect(decide(agent('mcp_github'), issue, options())).toMatchObject({ action: 'ask', hidden: false });
  });

  it('trusts "read-only" only from a trusted server', () => {
    const reading = { ...issue, hints: { readOnlyHint: true } };
    const trusted = options({ serverPolicy: () => ({ trusted: true, requires: [] }) });
    expect(decide(agent('mcp_github'), reading, options()).action).toBe('ask');
    expect(decide(agent('mcp_github'), reading, trusted).action).toBe('allow');
    expect(decide(agent('mcp_github'), issue, trusted).action).toBe('ask');
  });

  it('requires the extra capabilities of a server', () => {
    const strict = options({ serverPolicy: () => ({ trusted: false, requires: ['can_write'] }) });
    expect(decide(agent('mcp_github'), issue, strict)).toMatchObject({ action: 'deny', hidden: true });
    expect(decide(agent('mcp_github', 'can_write'), issue, strict).action).toBe('ask');
  });
});
