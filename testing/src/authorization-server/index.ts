// What tests of sign-in use: real authorization servers, servers behind them, and a browser without a screen.
export { JWT_BEARER } from './assertion-grant.js';
export type { AuthorizationServer } from './authorization-server.js';
export { startAuthorizationServer } from './authorization-server.js';
export type { Held, Route } from './fault.js';
export { altered, callbackIssuer, failing, held, redirecting, slow } from './fault.js';
export type { IdentityProvider } from './identity-provider.js';
export { startIdentityProvider } from './identity-provider.js';
export type { ProtectedServer, ProtectedServerOptions } from './protected-server.js';
export { startProtectedServer } from './protected-server.js';
export type { ProviderOptions } from './provider.js';
export { visit } from './visit.js';
