import type { AgentApp, AppScope, Compat, Coverage, InstallApproval, TokenResponse } from '@baton/protocol'
import { refuseA2a } from '../agent-apps/apps.ts'
import { chosenTeams, install } from '../agent-apps/installations.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { createGrant } from '../login/grants.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace } from '../workspaces/members.ts'
import { type AppClient, findClient } from './clients.ts'
import { issueTokens, tokenResponse } from './token.ts'

/** A request without scopes is granted `read` (oauth.grant-without-scope-is-read). */
export const scopesGranted = (scopes: AppScope[]): AppScope[] => (scopes.length > 0 ? scopes : ['read'])

interface Approval {
  scopes: AppScope[]
  coverage: Coverage
  firstOnly?: boolean
  /** Of the grant. */
  compat?: Compat | null
}

/**
 * Installs the app and creates the grant from which its tokens are issued; returns the id of the grant. The tokens act as
 * the app, not as the manager (oauth.token-acts-as-app). The caller holds the lock of the workspace.
 */
export async function installClient(
  unit: UnitOfWork<Member>,
  { id: clientId, name, app }: AppClient,
  { scopes, coverage, firstOnly = false, compat = null }: Approval,
): Promise<string> {
  const { workspaceId } = app
  const teams = await chosenTeams(unit.tx, workspaceId, coverage)
  const { id: installationId } = await install(unit, { app: { ...app, name }, scopes, teams, firstOnly })
  const grant = { workspaceId, clientId, installationId, userId: null, scopes: scopesGranted(scopes), compat }
  return createGrant(unit, grant)
}

/**
 * Installs an app without a redirect: the manager, who is signed in here, gets the tokens that the app would have fetched
 * with a code. The lock of the workspace lets one of several concurrent calls install it.
 */
export const installApp = (ctx: Context, admitted: Member, appId: string, approval: InstallApproval) =>
  transact(ctx, admitted, async (admission): Promise<TokenResponse> => {
    const { tx, caller } = admission
    await lockWorkspace(tx, caller.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const client = await findAppClient(unit, appId)
    const { scopes = client.app.scopes, ...coverage } = approval
    const unknown = scopes.find((scope) => !client.app.scopes.includes(scope))
    if (unknown) throw invalid({ scopes: `must be scopes of the manifest; ${unknown} is not` })
    const grantId = await installClient(unit, client, { scopes, coverage, firstOnly: true })
    return tokenResponse(found(await issueTokens(unit, grantId)))
  })

async function findAppClient({ tx, caller }: UnitOfWork<Member>, appId: string): Promise<AppClient> {
  const { clientId, protocol } = found(
    await tx.row<{ clientId: string; protocol: AgentApp['protocol'] }>(sql`
      select client_id as "clientId", (select protocol from endpoints e where e.id = a.endpoint_id) as protocol
      from agent_apps a
      where workspace_id = ${caller.workspaceId} and id = ${appId} and deleted_at is null`),
  )
  refuseA2a({ protocol })
  const client = found(await findClient(tx, clientId))
  return { ...client, app: found(client.app ?? undefined) }
}
