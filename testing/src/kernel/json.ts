/** Any JSON object whose members are not checked yet. */
export type JsonObject = { [key: string]: unknown };

export type RequestId = string | number;

/** True for plain JSON objects: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one; for reading optional members of received messages. */
export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** True for ids JSON-RPC allows in a request. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number';
}
