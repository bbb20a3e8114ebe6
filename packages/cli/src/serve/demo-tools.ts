/** The tools of the demo server. */
type Arguments = Readonly<Record<string, unknown>>;

interface DemoTool {
  readonly definition: Readonly<Record<string, unknown>>;
  call(args: Arguments): object;
}

const text = (words: string): object => ({ content: [{ type: 'text', text: words }] });
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const number = { type: 'number' };

export const DEMO_TOOLS: ReadonlyMap<string, DemoTool> = new Map<string, DemoTool>([
  [
    'echo',
    {
      definition: {
        name: 'echo',
        description: 'Returns its input',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string', description: 'What to say' } },
          required: ['text'],
        },
        annotations: READ_ONLY,
      },
      call: ({ text: words }) => text(String(words)),
    },
  ],
  [
    'add',
    {
      definition: {
        name: 'add',
        description: 'Adds two numbers',
        inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
        outputSchema: { type: 'object', properties: { sum: number }, required: ['sum'] },
        annotations: READ_ONLY,
      },
      call: ({ a, b }) => {
        const sum = Number(a) + Number(b);
        return { ...text(String(sum)), structuredContent: { sum } };
      },
    },
  ],
  [
    'clock',
    {
      definition: {
        name: 'clock',
        description: 'Returns the current time in ISO 8601',
        inputSchema: { type: 'object', properties: {} },
        annotations: READ_ONLY,
      },
      call: () => text(new Date().toISOString()),
    },
  ],
]);
