/**
 * The tools of every bare server: `echo` first, then record tools of about 1 KB of JSON each, as real servers have.
 */

const echoInput = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What to send back' } },
  required: ['text'],
};

const echoOutput = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What was sent' } },
  required: ['text'],
};

const recordInput = {
  type: 'object',
  properties: {
    collection: { type: 'string', description: 'Collection that holds the record', minLength: 1 },
    key: { type: 'string', description: 'Key of the record inside its collection', maxLength: 200 },
    state: {
      type: 'string',
      enum: ['draft', 'active', 'retired'],
      description: 'Keep records in this state',
    },
    changedAfter: { type: 'string', description: 'Keep records changed after this moment (ISO 8601)' },
    page: {
      type: 'object',
      description: 'Which part of the answer to send',
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 200, description: 'Records in a page' },
        cursor: { type: 'string', description: 'Where the page before ended' },
      },
    },
    fields: { type: 'array', items: { type: 'string' }, description: 'Names of the fields to send' },
  },
  required: ['collection', 'key'],
};

const recordOutput = {
  type: 'object',
  properties: {
    records: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          key: { type: 'string' },
          state: { type: 'string', enum: ['draft', 'active', 'retired'] },
          changed: { type: 'string' },
          size: { type: 'integer', minimum: 0 },
        },
        required: ['key', 'state'],
      },
    },
    cursor: { type: 'string' },
  },
  required: ['records'],
};

/** @param {number} index */
function toRecordTool(index) {
  const number = String(index).padStart(4, '0');
  return {
    name: `find_records_${number}`,
    title: `Find records ${number}`,
    description: `Finds the records of source ${number} by collection and key, filtered by state and time of change, and answers them page by page.`,
    inputSchema: recordInput,
  };
}

/**
 * The tools of a server; `count` includes `echo`.
 * @param {{ count: number, outputSchemas: boolean }} options
 */
export function createCatalogue({ count, outputSchemas }) {
  const echo = { name: 'echo', description: 'Sends the text back', inputSchema: echoInput };
  const records = Array.from({ length: count - 1 }, (_, index) => toRecordTool(index + 1));
  if (!outputSchemas) return [echo, ...records];
  return [
    { ...echo, outputSchema: echoOutput },
    ...records.map((tool) => ({ ...tool, outputSchema: recordOutput })),
  ];
}
