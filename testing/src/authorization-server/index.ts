// For tests of sign-in: real authorization servers, servers behind them, and a headless browser.
export { JWT_BEARER } from './assertion-grant.js';
export type { AuthorizationServer } from './authorization-server.js';
export { startAuthorizationServer } from './authorization-server.js';
export { browse as visit } from './browse.js';
export type { PausingFault as Held, Route } from './fault.js';
export { altering as altered, callbackIssuer, failing, pausing as held, redirecting, slow } from './fault.js';
export type { IdentityProvider } from './identity-provider.js';
export { startIdentityProvider } from './identity-provider.js';
export type { ProtectedServer, ProtectedServerOptions } from './protected-server.js';
export { startProtectedServer } from './protected-server.js';
export type { ProviderOptions } from './provider.js';
