import type { Route } from '@baton/protocol'
import { type Group, groups } from './canaries.ts'

/** Somebody who sends requests, with or without the right to. */
export interface Caller {
  name: string
  headers: Record<string, string>
  /** The workspace that they name, if they name theirs. */
  workspaceId: string
  mayRead: ReadonlySet<Group>
  /** Whether the route is for them, so that they get past the door. */
  fits: (route: Route) => boolean
}

const without = (...hidden: Group[]) =>
  new Set(groups.filter((group) => !['nobody', 'there', ...hidden].includes(group)))

/** What each kind of caller may read. */
export const mayRead = {
  nothing: new Set<Group>(),
  owner: without('scribe'),
  admin: without('scribe', 'owner'),
  member: without('scribe', 'owner', 'managers'),
  scribe: without('owner', 'managers'),
  /** What is for managers, no token leads to. */
  programOfOwner: without('scribe', 'managers'),
  app: without('scribe', 'owner', 'managers', 'people'),
  appOfOneTeam: without('scribe', 'owner', 'managers', 'people', 'ops'),
  elsewhere: new Set<Group>(['there']),
}

/** Who reads the webhooks that go to this path; nothing that is internal or personal is ever sent to any. */
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

/** Which routes are for whom. */
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
