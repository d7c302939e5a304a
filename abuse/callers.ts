import type { Route } from '@baton/protocol'
import { type Group, groups } from './canaries.ts'

/** Sends requests, with or without permission. */
export interface Caller {
  name: string
  headers: Record<string, string>
  /** Sent as their own workspace. */
  workspaceId: string
  mayRead: ReadonlySet<Group>
  /** Whether the route accepts this kind of caller. */
  fits: (route: Route) => boolean
}

const without = (...hidden: Group[]) =>
  new Set(groups.filter((group) => !['secret', 'there', ...hidden].includes(group)))

/** The groups that each kind of caller may read. */
export const mayRead = {
  nothing: new Set<Group>(),
  owner: without('scribe'),
  admin: without('scribe', 'owner'),
  member: without('scribe', 'owner', 'managers'),
  scribe: without('owner', 'managers'),
  /** OAuth tokens give no access to data for managers. */
  programOfOwner: without('scribe', 'managers'),
  /** A personal token for selected teams. */
  memberOfOneTeam: without('scribe', 'owner', 'managers', 'ops'),
  app: without('scribe', 'owner', 'managers', 'people'),
  appOfOneTeam: without('scribe', 'owner', 'managers', 'people', 'ops'),
  elsewhere: new Set<Group>(['there']),
}

/** Groups that may read webhooks to this path; internal and personal items are never sent to any. */
export function readersOf(path: string): ReadonlySet<Group> {
  switch (path.split(/[/?]/)[2]) {
    case 'managers':
      return new Set([...mayRead.app, 'managers'] as const)
    case 'app-of-a-team':
      return mayRead.appOfOneTeam
    case 'there':
      return mayRead.elsewhere
    default:
      return mayRead.app
  }
}

/** Routes by kind of caller. */
export const open = ({ caller }: Route) => caller === 'anyone' || caller === 'anyone or person'
export const forManagers = ({ caller }: Route) => caller !== 'app'
export const forMembers = ({ caller }: Route) => caller !== 'app' && caller !== 'manager'
export const forPrograms = (route: Route) => route.caller !== 'app' && forApps(['read', 'write'])(route)
export const forApps = (scopes: readonly string[]) => (route: Route) =>
  open(route) ||
  ('scope' in route &&
    (route.scope === null ||
      scopes.includes(route.scope) ||
      (route.scope.endsWith(':create') && scopes.includes('write'))))
