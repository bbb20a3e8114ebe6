/** How a person takes part in a sign-in. The host decides what that looks like. */

export interface SignInPage {
  /** The server's name in the configuration. */
  readonly server: string;
  /** Where the person signs in; http(s), checked. */
  readonly url: string;
}

export interface SignInPrompts {
  /** Shows the page, for example by opening a browser. */
  open(page: SignInPage): Promise<void> | void;
  /** Asks for the address that the browser ended at, for machines whose browser is elsewhere. */
  paste?: ((page: SignInPage, signal: AbortSignal) => Promise<string>) | undefined;
  /** Shows the code that the person types in on the page. */
  showCode?: ((page: SignInPage & { readonly code: string }) => Promise<void> | void) | undefined;
}

export type SignInMethod = 'browser' | 'paste' | 'device';
