/** How the user takes part in a sign-in. The host implements these. */

export interface SignInPage {
  /** The server's name in the configuration. */
  readonly server: string;
  /** The agent whose account it is; absent: the server itself. */
  readonly agent?: string | undefined;
  /** Where the user signs in; http(s), verified. */
  readonly url: string;
}

export interface SignInPrompts {
  /** Shows the page, for example by opening a browser. */
  open(page: SignInPage): Promise<void> | void;
  /** Asks for the URL that the browser was redirected to, if the browser runs on another machine. */
  paste?: ((page: SignInPage, signal: AbortSignal) => Promise<string>) | undefined;
  /** Shows the code that the user enters on the page. */
  showCode?: ((page: SignInPage & { readonly code: string }) => Promise<void> | void) | undefined;
}

export type SignInMethod = 'browser' | 'paste' | 'device';

/** The prompts for the account of an agent: their pages name it. */
export function promptsFor(agent: string | undefined, prompts: SignInPrompts): SignInPrompts {
  if (agent === undefined) return prompts;
  const { paste, showCode } = prompts;
  return {
    open: (page) => prompts.open({ ...page, agent }),
    paste: paste && ((page, signal) => paste.call(prompts, { ...page, agent }, signal)),
    showCode: showCode && ((page) => showCode.call(prompts, { ...page, agent })),
  };
}
