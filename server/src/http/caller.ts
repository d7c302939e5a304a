import {
  type AppScope,
  type Caller as CallerKind,
  inWorkspace,
  type Role,
  type Route,
  type Scope,
} from '@baton/protocol'
import { ApiError } from './errors.ts'

export interface Anonymous {
  kind: 'anonymous'
}

/** A person with a login. `workspaceId` is the one asked for; `role` is theirs in it, or null. */
export interface Person {
  kind: 'person'
  id: string
  name: string
  email: string
  tokenHash: Buffer
  /** Null with a login of their own; what a program of theirs may do on their behalf, by an OAuth token. */
  scopes: readonly AppScope[] | null
  workspaceId: string | null
  role: Role | null
}

/** A person in a workspace of theirs. */
export type Member = Person & { workspaceId: string; role: Role }

/**
 * An agent: an installed app, acting as its app user within the teams it covers (5.6, 5.7), or one that runs inside the
 * service, which is held to the same (agents/identity.ts).
 */
export interface App {
  kind: 'app'
  /** Of the app user. */
  id: string
  name: string
  /** Of the installation; a request within a workspace must name it. */
  workspaceId: string
  workspaceAsked: string | null
  /** Null for an agent inside the service. */
  appId: string | null
  appName: string
  /** Null for an agent inside the service. */
  installationId: string | null
  tokenHash: Buffer
  scopes: readonly AppScope[]
  allTeams: boolean
  /** Empty when `allTeams`. */
  teamIds: readonly string[]
  /** Whose personal items it reaches: of a personal agent its owner's, where it works on one of these. */
  personalOf: string | null
}

/** Whoever works in a workspace. */
export type Actor = Member | App

export type Caller = Anonymous | Person | App

/** What a handler may rely on, by what its route declares. */
export type CallerFor<Kind extends CallerKind> = Kind extends 'anyone'
  ? Anonymous
  : Kind extends 'anyone or person'
    ? Anonymous | Person
    : Kind extends 'person'
      ? Person
      : Kind extends 'person or app'
        ? Person | App
        : Kind extends 'member or app'
          ? Actor
          : Kind extends 'app'
            ? App
            : Member

export const isManager = (caller: Member) => caller.role === 'owner' || caller.role === 'admin'

/** Whether this caller may use the route at all. Throws the refusal if not. */
export function admit(route: Route, caller: Caller): void {
  if (route.caller === 'anyone' || route.caller === 'anyone or person') return
  if (caller.kind === 'anonymous') throw new ApiError('UNAUTHORIZED')
  // 5.5: some things only a person does, signed in.
  if (caller.scopes && !('scope' in route)) throw new ApiError('SESSION_ONLY_ROUTE')
  if (caller.scopes || inWorkspace(route.caller)) admitToWorkspace(route, caller)
  if (route.caller === 'app' && caller.kind !== 'app') {
    throw new ApiError('FORBIDDEN', {}, { message: 'Only an agent app does this, with its own token.' })
  }
  const needed = neededScope(route, caller)
  if (caller.scopes && needed && !grants(caller.scopes, needed)) throw insufficientScope(needed)
  if (route.caller === 'manager' && !isManager(caller as Member)) throw new ApiError('FORBIDDEN')
}

/** An OAuth token is of one workspace: naming another is refused wherever it is used (decisions 2). */
function admitToWorkspace(route: Route, caller: Person | App) {
  const asked = caller.kind === 'app' ? workspaceOf(route, caller) : caller.workspaceId
  if (!asked && inWorkspace(route.caller)) throw new ApiError('WORKSPACE_REQUIRED')
  const within = caller.kind === 'app' ? !asked || asked === caller.workspaceId : caller.role !== null
  if (!within) throw new ApiError('WORKSPACE_ACCESS_DENIED')
}

/** The one it asks for; on the MCP server an app need not ask, its token says it. */
const workspaceOf = (route: Route, { workspaceAsked, workspaceId }: App) =>
  workspaceAsked ?? (route.mcp ? workspaceId : null)

function neededScope(route: Route, caller: Person | App): Scope | null {
  if (!('scope' in route)) return null
  return (caller.kind === 'person' && route.programScope) || route.scope
}

/** 5.6: `write` implies the two narrow ones, and not `read`. */
export const grants = (scopes: readonly AppScope[], needed: Scope) =>
  scopes.includes(needed) || (needed.endsWith(':create') && scopes.includes('write'))

const insufficientScope = (required: Scope) =>
  new ApiError(
    'INSUFFICIENT_SCOPE',
    { required },
    {
      message: `The token lacks the scope ${required}.`,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    },
  )
