import {
  type AppScope,
  type Caller as CallerKind,
  inWorkspace,
  isRefusedWhilePendingDeletion,
  type Role,
  type Route,
  type Scope,
} from '@baton/protocol'
import { ApiError } from './errors.ts'

export interface Anonymous {
  kind: 'anonymous'
}

/** A person with a login. `workspaceId` is the requested workspace; `role` is the person's role in it, or null. */
export interface Person {
  kind: 'person'
  id: string
  name: string
  email: string
  tokenHash: Buffer
  /** Null with a login; with an OAuth or personal token, the scopes that the person gave it. */
  scopes: readonly AppScope[] | null
  workspaceId: string | null
  role: Role | null
  /** The only teams that a personal token can access; null or absent for all teams. */
  teamIds?: readonly string[] | null
  /** How the login began; null with an OAuth token, and for logins of earlier versions. */
  loginMethod: LoginMethod | null
  /** A sign-in method was used in this very login within the last 15 minutes. */
  recent: boolean
  /** With an OAuth or personal token, the program: the OAuth client, or the id of the personal token. */
  client?: string
  /** The workspace is about to be deleted, so it can only be read. */
  pendingDeletion?: boolean
  /** The methods with which the person can make the login recent. Read only for routes that need a recent login. */
  signInMethods?: readonly SignInMethod[]
}

export type LoginMethod = 'password' | 'sso' | 'passkey' | 'cli' | 'sign_up'
export type SignInMethod = 'password' | 'passkey' | 'sso'

/** A person who is a member of the workspace. */
export type Member = Person & { workspaceId: string; role: Role }

/**
 * An agent: an installed app, acting as its app user within the teams it covers, or an agent inside the service, which
 * follows the same rules (agents/identity.ts).
 */
export interface App {
  kind: 'app'
  /** The app user's id. */
  id: string
  name: string
  /** The installation's workspace; `workspaceAsked` is the one that the request names. */
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
  /** The workspace is about to be deleted, so it can only be read. */
  pendingDeletion?: boolean
  /** Owner of the personal items it may access: a personal agent's owner, while it works on one of them. */
  personalOf: string | null
}

/** A caller within a workspace. */
export type Actor = Member | App

/** The service itself, where a rule of the workspace makes a change. */
export interface System {
  kind: 'system'
  id: null
  workspaceId: string
}

export type Caller = Anonymous | Person | App

/** The type of caller that a handler gets, by what its route declares. */
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

/** The teams to which an app's installation or a personal token is limited, or null. */
export function limitedTo(caller: Actor): readonly string[] | null {
  if (caller.kind === 'app') return caller.allTeams ? null : caller.teamIds
  return caller.teamIds ?? null
}

export const isManager = (caller: Member) => caller.role === 'owner' || caller.role === 'admin'

/** Throws unless this caller may use the route. */
export function admit(route: Route, caller: Caller): void {
  if (route.caller === 'anyone' || route.caller === 'anyone or person') return
  if (caller.kind === 'anonymous') throw new ApiError('UNAUTHORIZED')
  // app.session-only-*: routes without a scope need a person's login.
  if (caller.scopes && !('scope' in route)) throw new ApiError('SESSION_ONLY_ROUTE')
  if (caller.scopes || inWorkspace(route.caller)) admitToWorkspace(route, caller)
  if (route.caller === 'app' && caller.kind !== 'app') {
    throw new ApiError('FORBIDDEN', {}, { message: 'This route needs the token of an agent app.' })
  }
  const needed = neededScope(route, caller)
  if (caller.scopes && needed && !grants(caller.scopes, needed)) throw insufficientScope(needed)
  if (route.caller === 'manager' && !isManager(caller as Member)) throw new ApiError('FORBIDDEN')
  if (caller.pendingDeletion && isRefusedWhilePendingDeletion(route)) throw new ApiError('WORKSPACE_PENDING_DELETION')
  if (route.recent && caller.kind === 'person' && !caller.recent) throw reauthRequired(caller.signInMethods ?? [])
}

export const reauthRequired = (methods: readonly SignInMethod[]) => new ApiError('REAUTH_REQUIRED', { methods })

/** workspace.header-not-the-apps-403: an OAuth token works in one workspace only, also where a route needs none. */
function admitToWorkspace(route: Route, caller: Person | App) {
  const asked = caller.kind === 'app' ? workspaceOf(route, caller) : caller.workspaceId
  if (!asked && inWorkspace(route.caller)) throw new ApiError('WORKSPACE_REQUIRED')
  const within = caller.kind === 'app' ? !asked || asked === caller.workspaceId : caller.role !== null
  if (!within) throw new ApiError('WORKSPACE_ACCESS_DENIED')
}

/** mcp.workspace-header-optional-for-app: without the header, the MCP server and Linear's API take the token's workspace. */
const workspaceOf = (route: Route, { workspaceAsked, workspaceId }: App) =>
  workspaceAsked ?? (route.mcp || route.linear ? workspaceId : null)

function neededScope(route: Route, caller: Person | App): Scope | null {
  if (!('scope' in route)) return null
  return (caller.kind === 'person' && route.programScope) || route.scope
}

/** `write` implies issues:create and comments:create, but not `read` (scope.write-does-not-imply-read). */
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
