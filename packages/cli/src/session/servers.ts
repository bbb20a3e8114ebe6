/** The servers as commands use them: those of a runtime of their own, or those of the daemon. */
import type { Runtime } from 'turnbuckle';

/** What is needed to connect servers and show their status. */
export type Connectable = Pick<Runtime, 'connect' | 'serverNames' | 'serverStatus' | 'status'>;

type Catalog = Pick<Runtime['catalog'], 'find' | 'get' | 'listByServer'>;

/** What it takes to find a tool. */
export type ToolLookup = Connectable & Pick<Runtime, 'tools'> & { readonly catalog: Catalog };

export interface Servers
  extends ToolLookup,
    Pick<
      Runtime,
      'getPrompt' | 'listPrompts' | 'listResources' | 'listResourceTemplates' | 'ping' | 'readResource'
    > {
  /** Absent for those of the daemon. */
  readonly energy?: Pick<NonNullable<Runtime['energy']>, 'estimate'> | undefined;
  /** They are the daemon's, which decides what there is for a token. */
  readonly isRemote?: true;
}
