/** The name and attributes of requests that are served: the same object for the same kind of request. */
import { type Attributes, methodName, operationAttributes, type RequestTarget } from 'turnbuckle/host';

export interface ServedOperation {
  readonly name: string;
  readonly attributes: Attributes;
}

/** How a client reaches the daemon. */
export interface ClientPath {
  readonly isHttp: boolean;
  readonly protocolVersion: string | undefined;
}

/** The oldest one makes room for the next. */
const MAX_OPERATIONS = 5_000;

export class ServedOperations {
  readonly #known = new Map<string, ServedOperation>();

  /** The names in the target are redacted and short: they are kept. */
  find(method: string, target: RequestTarget, path: ClientPath): ServedOperation {
    const { isHttp, protocolVersion } = path;
    const key = `${methodName(method)}\n${target.tool ?? target.prompt ?? ''}\n${isHttp}\n${protocolVersion}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { name, attributes } = operationAttributes(method, target);
    const made = { name, attributes: { ...attributes, ...pathAttributes(path) } };
    const [oldest] = this.#known.size < MAX_OPERATIONS ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, made);
    return made;
  }
}

export const pathAttributes = ({ isHttp, protocolVersion }: ClientPath): Attributes => ({
  'network.transport': isHttp ? 'tcp' : 'pipe',
  'network.protocol.name': isHttp ? 'http' : undefined,
  'mcp.protocol.version': protocolVersion,
});
