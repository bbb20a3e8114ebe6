/** The built file of the steps, for worker processes. Beside it, in the sources, when built and when bundled. */
export const STEPS_FILE: string = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/work/steps.js' : './steps.js',
  import.meta.url,
).href;
