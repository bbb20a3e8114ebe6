/** The address of a remote server: what is allowed and shown is the address that is configured. */
import { describe, expect, it } from 'vitest';
import { INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import { fillEntry } from '../../src/install/entry-template.js';
import type { InstallPlan } from '../../src/install/install-plan.js';
import type { InstallableRemote } from '../../src/install/installable-record.js';
import { planInstall } from '../../src/install/plan.js';
import { isRefusal } from '../../src/install/refusal.js';
import { npmRecord } from './stage.js';

const options = (allow: object) => ({
  serverName: 'web',
  settings: INSTALL_SETTINGS_SCHEMA.parse({ allow: [allow] }),
  programs: { node: '/usr/bin/node' },
  root: '/srv/packages',
  now: 0,
  sandbox: true,
  verified: true,
});

function plan(remote: Partial<InstallableRemote>, allow: object = { type: 'remote' }): InstallPlan | string {
  const remotes = [{ type: 'streamable-http', url: 'https://mcp.example.com/mcp', ...remote }];
  const planned = planInstall({ name: 'com.example/web', version: '1', remotes }, options(allow));
  return isRefusal(planned) ? planned.reason : planned;
}

const ofExample = { type: 'remote', name: 'https://*.example.com/mcp' };
const notPlain = expect.stringContaining('has a URL that contains a user name');

// requirement E3
describe('the address of a remote server', () => {
  it.each([
    'https://evil.test?.example.com/mcp',
    'https://evil.test#.example.com/mcp',
    'https://evil.test\\.example.com/mcp',
    'https://evil.test:443?.example.com/mcp',
  ])('is on the host that a rule names, not %s', (url) => {
    expect(plan({ url }, ofExample)).toEqual(notPlain);
  });

  it.each([
    'https://mcp.example.com/a/../mcp',
    'https://mcp.example.com/%2e%2e/mcp',
    'https://MCP.example.com/mcp',
    'https://mcp.ex\u0430mple.com/mcp',
    'https://mcp.example.com/{unknown}/mcp',
  ])('is in its normal form, unlike %s', (url) => {
    expect(plan({ url })).toEqual(notPlain);
  });

  it('is allowed with the values that the record fixes', () => {
    const url = 'https://mcp.example.com{port}/mcp';
    const rule = { type: 'remote', name: 'https://mcp.example.com{port}/mcp' };
    const elsewhere = { url, variables: { port: { value: '.evil.test' } } };
    expect(plan(elsewhere, rule)).toContain('https://mcp.example.com.evil.test/mcp is not allowed');
    expect(plan({ url, variables: { port: { value: '@evil.test' } } })).toEqual(notPlain);
    const port = { url, variables: { port: { value: ':8443' } } };
    const planned = plan(port, { type: 'remote', name: 'https://mcp.example.com:8443/*' });
    expect(planned).toMatchObject({ identifier: 'https://mcp.example.com:8443/mcp' });
    const { server, inputs, shown } = planned as InstallPlan;
    expect(fillEntry(server, inputs, {}).url).toBe('https://mcp.example.com:8443/mcp');
    expect(shown.warnings.join()).toContain('leaves this machine and goes to mcp.example.com:8443');
  });

  it('can have variables, whatever their names are', () => {
    const url = 'https://{tenantId}.example.com/{path_part}/mcp';
    const variables = { tenantId: {}, path_part: { default: 'v1' } };
    const planned = plan({ url, variables }) as InstallPlan;
    expect(planned.shown.warnings.join()).toContain('leaves this machine and goes to <tenantId>.example.com');
    const entry = fillEntry(planned.server, planned.inputs, { values: { tenantId: 'one' } });
    expect(entry.url).toBe('https://one.example.com/v1/mcp');
    expect(plan({ url: 'https://mcp.example.com' })).toMatchObject({ kind: 'remote' });
    expect(plan({ url: 'https://mcp.example.com/mcp?version={v}', variables: { v: {} } })).toMatchObject({
      kind: 'remote',
    });
  });

  it('of a bundle is in its normal form, too', () => {
    const identifier = 'https://evil.test?.example.com/server.mcpb';
    const record = npmRecord('x', '1.0.0', {
      registryType: 'mcpb',
      identifier,
      fileSha256: 'a'.repeat(64),
    });
    const rule = { type: 'mcpb', name: 'https://*.example.com/server.mcpb' };
    expect(planInstall(record, options(rule))).toMatchObject({
      reason: expect.stringContaining('is not an https URL in its normal form'),
    });
  });
});
