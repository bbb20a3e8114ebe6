// A program that does not catch the error of a failed call. Arguments: the configuration file, the server.
import { createConfiguredRuntime } from 'turnbuckle';

const [file, server] = process.argv.slice(2);
const { runtime } = await createConfiguredRuntime({ files: [file] });
await runtime.connect(server);
