/** Known bad versions of servers: checked in every plan, and for the dependencies of what is installed. */
import { comparePackageVersions } from './identifiers.js';
import type { PackageType } from './installable-record.js';

export interface Advisory {
  readonly id: string;
  readonly type: PackageType;
  readonly identifier: string;
  /** One of the ranges has to match; all versions if there is none. `below` is not part of a range. */
  readonly affected: ReadonlyArray<{ readonly from?: string; readonly below?: string }>;
  readonly level: 'refuse' | 'warn';
  readonly text: string;
}

const FILESYSTEM = [{ below: '0.6.4' }, { from: '2025.0.0', below: '2025.7.1' }];

export const KNOWN_ADVISORIES: readonly Advisory[] = [
  {
    id: 'CVE-2025-53109',
    type: 'npm',
    identifier: '@modelcontextprotocol/server-filesystem',
    affected: FILESYSTEM,
    level: 'refuse',
    text: 'symbolic links lead out of the allowed directories; fixed in 2025.7.1',
  },
  {
    id: 'CVE-2025-53110',
    type: 'npm',
    identifier: '@modelcontextprotocol/server-filesystem',
    affected: FILESYSTEM,
    level: 'refuse',
    text: 'directories whose names start with the name of an allowed directory are accessible; fixed in 2025.7.1',
  },
  {
    id: 'CVE-2025-68143, CVE-2025-68144, CVE-2025-68145, CVE-2026-27735',
    type: 'pypi',
    identifier: 'mcp-server-git',
    affected: [{ below: '2026.1.14' }],
    level: 'refuse',
    text: 'tools can access files and repositories outside the configured one; fixed in 2026.1.14',
  },
  {
    id: 'server-postgres-read-only-escape',
    type: 'npm',
    identifier: '@modelcontextprotocol/server-postgres',
    affected: [{ below: '0.6.3' }],
    level: 'refuse',
    text: 'a query can end the read-only transaction and write; there is no fixed version',
  },
  {
    id: 'CVE-2025-53967',
    type: 'npm',
    identifier: 'figma-developer-mcp',
    affected: [{ below: '0.6.3' }],
    level: 'refuse',
    text: 'arguments of a tool are run by a shell; fixed in 0.6.3',
  },
  {
    id: 'CVE-2025-54994',
    type: 'npm',
    identifier: '@akoskm/create-mcp-server-stdio',
    affected: [{ below: '0.0.13' }],
    level: 'refuse',
    text: 'arguments of a tool are run by a shell; fixed in 0.0.13',
  },
  {
    id: 'CVE-2025-54994',
    type: 'npm',
    identifier: 'create-mcp-server-stdio',
    affected: [],
    level: 'refuse',
    text: 'arguments of a tool are run by a shell',
  },
  {
    id: 'postmark-mcp-2025-09',
    type: 'npm',
    identifier: 'postmark-mcp',
    affected: [{ from: '1.0.16' }],
    level: 'refuse',
    text: 'sends a copy of every email to its author',
  },
  {
    id: 'postmark-mcp-2025-09',
    type: 'npm',
    identifier: 'postmark-mcp',
    affected: [{ below: '1.0.16' }],
    level: 'warn',
    text: 'later versions send a copy of every email to their author',
  },
  {
    id: 'CVE-2025-6514',
    type: 'npm',
    identifier: 'mcp-remote',
    affected: [{ below: '0.1.16' }],
    level: 'refuse',
    text: 'a server can run commands on this machine; fixed in 0.1.16',
  },
];

/** The advisories for a package version. Names of PyPI packages are compared as PyPI does. */
export function findAdvisories(
  list: readonly Advisory[],
  wanted: { readonly type: PackageType; readonly identifier: string; readonly version: string },
): Advisory[] {
  const { type, identifier, version } = wanted;
  const isAffected = ({ affected }: Advisory): boolean =>
    affected.length === 0 ||
    affected.some(
      ({ from, below }) =>
        (from === undefined || comparePackageVersions(version, from) >= 0) &&
        (below === undefined || comparePackageVersions(version, below) < 0),
    );
  return list.filter(
    (one) =>
      one.type === type &&
      normalName(type, one.identifier) === normalName(type, identifier) &&
      isAffected(one),
  );
}

const normalName = (type: PackageType, name: string): string =>
  type === 'pypi' ? name.toLowerCase().replace(/[-_.]+/g, '-') : name;
