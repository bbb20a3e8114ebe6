import { timeBound } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redaction/redactor.js';

describe('names that are equal after redaction', () => {
  it('are all kept, however many there are', async () => {
    const redactor = createRedactor();
    const count = 20_000;
    const name = (at: number): string => `ghp_${String(at).padStart(36, '0')}`;
    const value = Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), at]));
    const started = performance.now();
    const whole = await redactor.large.value({ ...value, '[redacted] 3': 'its own' });
    const redacted = whole as Record<string, unknown>;
    expect(performance.now() - started).toBeLessThan(timeBound(1_000));
    expect(Object.keys(redacted)).toHaveLength(count + 1);
    expect(Object.values(redacted).filter((part) => typeof part === 'number')).toHaveLength(count);
    expect(JSON.stringify(redacted)).not.toContain('ghp_');
  });
});
