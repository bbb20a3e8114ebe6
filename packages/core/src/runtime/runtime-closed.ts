import { TurnbuckleError } from '../errors.js';

export const runtimeClosed = (): TurnbuckleError =>
  new TurnbuckleError('RUNTIME_CLOSED', 'The runtime is closed.', {
    hint: 'Create a new one with createRuntime().',
  });
