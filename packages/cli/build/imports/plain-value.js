/** Looks at values that came out of somebody's file; own keys only, so that `__proto__` is a name like others. */
/** True for an object with keys: not null, not a list, not a date. */
export function isEntry(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
/** The value of an own key, or undefined. */
export function own(value, key) {
  return isEntry(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
/** The value at the end of a chain of own keys, or undefined. */
export function ownAt(value, path) {
  return path.reduce(own, value);
}
/** The texts in a list; empty for anything else. */
export function textsIn(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
/** The same entry without some keys. */
export function without(entry, ...keys) {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)));
}
//# sourceMappingURL=plain-value.js.map
