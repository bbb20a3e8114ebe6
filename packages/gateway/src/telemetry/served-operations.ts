/** The name and attributes of requests that are served: the same object for the same kind of request. */
import { type Attributes, operationAttributes, type RequestTarget } from 'turnbuckle/host';

export interface ServedOperation {
  readonly name: string;
  readonly attributes: Attributes;
}

/** How a client reaches the daemon. */
export interface ClientPath {
  readonly isHttp: boolean;
  readonly protocolVersion: string | undefined;
}

/** Others are created for each request. */
const MAX_OPERATIONS = 5_000;

export class ServedOperations {
  readonly #known = new Map<string, ServedOperation>();

  find(method: string, target: RequestTarget, path: ClientPath): ServedOperation {
    const { isHttp, protocolVersion } = path;
    const key = `${method}\n${target.tool ?? target.prompt ?? ''}\n${isHttp}\n${protocolVersion}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { name, attributes } = operationAttributes(method, target);
    const made = { name, attributes: { ...attributes, ...pathAttributes(path) } };
    if (this.#known.size < MAX_OPERATIONS) this.#known.set(key, made);
    return made;
  }
}

export const pathAttributes = ({ isHttp, protocolVersion }: ClientPath): Attributes => ({
  'network.transport': isHttp ? 'tcp' : 'pipe',
  'network.protocol.name': isHttp ? 'http' : undefined,
  'mcp.protocol.version': protocolVersion,
});
