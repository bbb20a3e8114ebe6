// A process that agrees to servers one by one. Arguments: state directory, prefix of their names, how many.
import { TrustStore } from '../../dist/config/trust/trust.js';

const [stateDir, prefix, count] = process.argv.slice(2);
const trust = new TrustStore(stateDir);
for (let index = 0; index < Number(count); index += 1)
  await trust.agree([{ name: `${prefix}-${index}`, directory: '/p', entry: { command: 'x' } }]);
