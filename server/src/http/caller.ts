import { type Caller as CallerKind, inWorkspace, type Role, type Route } from '@baton/protocol'
import { ApiError } from './errors.ts'

export interface Nobody {
  kind: 'nobody'
}

/** A person with a login. `workspaceId` is the one asked for; `role` is theirs in it, or null. */
export interface Person {
  kind: 'person'
  id: string
  name: string
  email: string
  tokenHash: Buffer
  workspaceId: string | null
  role: Role | null
}

/** A person in a workspace of theirs. */
export type Member = Person & { workspaceId: string; role: Role }

export type Caller = Nobody | Person

/** What a handler may rely on, by what its route declares. */
export type CallerFor<Kind extends CallerKind> = Kind extends 'anyone'
  ? Nobody
  : Kind extends 'person' | 'person or app'
    ? Person
    : Member

export const isManager = (caller: Member) => caller.role === 'owner' || caller.role === 'admin'

/** Whether this caller may use the route at all. Throws the refusal if not. */
export function admit(route: Route, caller: Caller): void {
  if (route.caller === 'anyone') return
  if (caller.kind === 'nobody') throw new ApiError('UNAUTHORIZED')
  if (!inWorkspace(route.caller)) return
  if (!caller.workspaceId) throw new ApiError('WORKSPACE_REQUIRED')
  if (!caller.role) throw new ApiError('WORKSPACE_ACCESS_DENIED')
  if (route.caller === 'manager' && !isManager(caller as Member)) throw new ApiError('FORBIDDEN')
}
