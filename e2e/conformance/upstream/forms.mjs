// The forms that the elicitation scenarios expect.

/** @typedef {import('@modelcontextprotocol/server').ElicitRequestFormParams['requestedSchema']} Form */

/**
 * @param {Form['properties']} properties
 * @param {string[]} required
 * @returns {Form}
 */
export const formOf = (properties, required = []) => ({ type: 'object', properties, required });

const options = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, index) => ({
  const: `value${index + 1}`,
  title: `${title} Option`,
}));

export const CONTACT = formOf(
  {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  ['username', 'email'],
);

export const DEFAULTS = formOf({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});

export const CHOICES = formOf({
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
});
