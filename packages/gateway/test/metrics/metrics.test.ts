import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics, type Metrics, type MetricsOptions } from '../../src/metrics/metrics.js';
import { parseExposition } from './parse-exposition.js';

async function open(
  options: RuntimeOptions = {},
  more?: MetricsOptions,
): Promise<{ runtime: Runtime; metrics: Metrics; read: () => Map<string, number> }> {
  const home = await temporaryDirectory();
  const runtime = await createRuntime({ stateDir: home.path, servers: {}, ...options });
  const metrics = createMetrics(runtime, more);
  onTestFinished(async () => {
    metrics.close();
    await runtime.close();
    await home.remove();
  });
  return { runtime, metrics, read: () => parseExposition(metrics.text()) };
}

const inputSchema = { type: 'object' };

describe('the metrics of calls', () => {
  it('count by tool and status, and put durations into buckets', async () => {
    const { runtime, read } = await open();
    runtime.registerTool({ name: 'fine', inputSchema, run: () => 'x' });
    runtime.registerTool({
      name: 'sad',
      inputSchema,
      run: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }),
    });
    for (let count = 0; count < 3; count += 1) await runtime.execute('fine');
    await runtime.execute('sad');
    const numbers = read();
    expect(numbers.get('mcp_calls_total{tool_name="fine",status="success"}')).toBe(3);
    expect(numbers.get('mcp_calls_total{tool_name="sad",status="tool_error"}')).toBe(1);
    expect(numbers.get('mcp_call_duration_seconds_count{tool_name="fine"}')).toBe(3);
    expect(numbers.get('mcp_call_duration_seconds_bucket{tool_name="fine",le="+Inf"}')).toBe(3);
    for (const bound of [0.1, 0.5, 1, 5, 10, 30])
      expect(numbers.has(`mcp_call_duration_seconds_bucket{tool_name="fine",le="${bound}"}`)).toBe(true);
    const buckets = [...numbers].filter(([name]) =>
      name.startsWith('mcp_call_duration_seconds_bucket{tool_name="fine"'),
    );
    const counts = buckets.map(([, count]) => count);
    expect(counts).toEqual([...counts].sort((left, right) => left - right));
  });

  it('count all unknown tools under one name', async () => {
    const { runtime, read } = await open();
    for (let count = 0; count < 50; count += 1) await runtime.execute(`made_up_${count}`);
    const numbers = read();
    expect(numbers.get('mcp_calls_total{tool_name="other",status="error"}')).toBe(50);
    expect(numbers.get('turnbuckle_call_errors_total{code="TOOL_UNKNOWN"}')).toBe(50);
    expect([...numbers.keys()].filter((name) => name.includes('made_up'))).toEqual([]);
  });

  it('limit the number of tool names', async () => {
    const { runtime, read } = await open({}, { maxTools: 5 });
    for (let count = 0; count < 20; count += 1) {
      runtime.registerTool({ name: `tool_${count}`, inputSchema, run: () => 'x' });
      await runtime.execute(`tool_${count}`);
      await runtime.execute(`tool_${count}`);
    }
    const numbers = read();
    const series = [...numbers.keys()].filter((name) => name.startsWith('mcp_calls_total'));
    expect(series).toHaveLength(6);
    expect(numbers.get('mcp_calls_total{tool_name="other",status="success"}')).toBe(30);
  });
});

describe('the metrics of servers', () => {
  it('show the state of each server, and its reconnects', async () => {
    const { runtime, read } = await open({
      servers: {
        demo: { ...fixture('echo'), reconnect: { initialMs: 1, maxMs: 5 } },
        off: { ...fixture('echo'), enabled: false },
      },
    });
    await runtime.connectAll();
    const before = read();
    expect(before.get('turnbuckle_server_up{server="demo"}')).toBe(1);
    expect(before.get('turnbuckle_server_status{server="demo",status="connected"}')).toBe(1);
    expect(before.get('turnbuckle_server_status{server="off",status="disabled"}')).toBe(1);
    expect(before.get('turnbuckle_server_breaker{server="demo",state="closed"}')).toBe(1);
    expect(before.get('turnbuckle_server_tools{server="demo"}')).toBeGreaterThan(3);
    const { pid } = runtime.serverStatus('demo');
    if (pid === undefined) throw new Error('it has no process');
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => read().get('turnbuckle_server_reconnects_total{server="demo"}') === 1);
    await waitUntil(() => read().get('turnbuckle_server_up{server="demo"}') === 1);
  });

  it('count pending approvals and decisions', async () => {
    const { runtime, read } = await open({ rules: [{ action: 'ask' }], approvals: 'queue' });
    runtime.registerTool({ name: 'paint', inputSchema, run: () => 'x' });
    const call = runtime.execute('paint', {}, { caller: { id: 'a', capabilities: ['mcp_integration'] } });
    await waitUntil(() => read().get('turnbuckle_approvals_pending') === 1);
    expect(read().get('turnbuckle_calls_in_flight')).toBe(1);
    const [asked] = runtime.approvals.pending();
    runtime.approvals.answer(asked?.id ?? '', 'once');
    await call;
    expect(read().get('turnbuckle_approvals_pending')).toBe(0);
    expect(read().get('turnbuckle_calls_in_flight')).toBe(0);
    expect(read().get('turnbuckle_approvals_total{answer="once"}')).toBe(1);
    expect(read().get('turnbuckle_decisions_total{decision="ask"}')).toBe(1);
  });
});

describe('the metrics of the process and of the host', () => {
  it('are exposed', async () => {
    const { metrics, read } = await open();
    const tea = metrics.counter('host_cups_total', 'Cups of tea.');
    tea.add({ kind: 'green' });
    metrics.gauge('host_temperature', 'Of the tea.', () => Number.POSITIVE_INFINITY);
    const numbers = read();
    expect(numbers.get('host_cups_total{kind="green"}')).toBe(1);
    expect(numbers.get('host_temperature')).toBe(Number.POSITIVE_INFINITY);
    expect(numbers.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(numbers.get('turnbuckle_event_loop_delay_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
  });
});
