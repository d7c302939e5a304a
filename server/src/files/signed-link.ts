import { programLimits } from '@baton/protocol'
import { minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sameBytes } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { type Actor, type App, limitedTo, type Member } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import type { Headers } from '../http/route.ts'
import { findFile } from './access.ts'
import { contentOf } from './content.ts'

/** Parts of the token: what it opens, who made it and by which right, and until when. Ids are without their prefix. */
interface Claim {
  file: string
  user: string
  /** `i` and the installation of an app, `t` and the hash of a token that is limited to teams, or only `m`. */
  right: string
  until: number
}

const purpose = 'file link'
const bare = (id: string) => id.slice(id.indexOf('_') + 1)

/** A link that works without a login, for its maker's access. */
export async function createLink(ctx: Context, caller: Actor, id: string) {
  await findFile(ctx.db, caller, id)
  const until = plus(ctx.clock.now(), minutes(programLimits.fileLinkMinutes))
  const text = [bare(id), bare(caller.id), rightOf(caller), until.getTime().toString(36)].join('.')
  const url = `${ctx.config.rootUrl}/f/${text}.${ctx.keys.mac(purpose, text).toString('base64url')}`
  return { url, expires_at: until.toISOString() }
}

function rightOf(caller: Actor): string {
  if (caller.kind === 'person') return limitedTo(caller) ? `t${caller.tokenHash.toString('base64url')}` : 'm'
  if (caller.installationId === null) throw new ApiError('FORBIDDEN')
  return `i${bare(caller.installationId)}`
}

function claimOf({ keys, clock }: Context, token: string): Claim {
  const parts = token.split('.')
  const mac = parts.pop() ?? ''
  const given = Buffer.from(mac, 'base64url')
  // The last character of base64 has unused bits, so other spellings of the same bytes are refused.
  const isIntact = parts.length === 4 && given.length === 32 && given.toString('base64url') === mac
  if (!isIntact || !sameBytes(keys.mac(purpose, parts.join('.')), given)) throw notFound()
  const [file, user, right, until] = parts as [string, string, string, string]
  const claim = { file: `fil_${file}`, user: `usr_${user}`, right, until: Number.parseInt(until, 36) }
  if (clock.now().getTime() >= claim.until) throw notFound()
  return claim
}

/** Every failure is the same 404. */
export async function openLink(ctx: Context, token: string, headers: Headers) {
  const claim = claimOf(ctx, token)
  const { workspace } = found(
    await ctx.db.row<{ workspace: string }>(sql`
      select w.id as workspace from files f join workspaces w on w.id = f.workspace_id
      where f.id = ${claim.file} and w.purged_since is null`),
  )
  const maker = claim.right.startsWith('i')
    ? await findApp(ctx, claim, workspace)
    : await findMember(ctx, claim, workspace)
  const stored = await findFile(ctx.db, maker, claim.file).catch((error) => {
    throw error instanceof ApiError ? notFound() : error
  })
  return contentOf(ctx, stored, headers, 'private, no-store')
}

async function findMember({ db, clock }: Context, { user, right }: Claim, workspace: string): Promise<Member> {
  const token = right.startsWith('t') ? Buffer.from(right.slice(1), 'base64url') : null
  const { role, teams } = found(
    await db.row<Pick<Member, 'role'> & { teams: string[] | null }>(sql`
      select m.role, t.team_ids as teams from memberships m join users u on u.id = m.user_id and u.disabled_at is null
      left join personal_tokens t on t.token_hash = ${token} and t.user_id = m.user_id
        and t.workspace_id = m.workspace_id and t.expires_at > ${clock.now()}
      where m.workspace_id = ${workspace} and m.user_id = ${user} and (${token === null} or t.id is not null)`),
  )
  return {
    kind: 'person',
    id: user,
    name: '',
    email: '',
    tokenHash: Buffer.alloc(0),
    scopes: null,
    workspaceId: workspace,
    role,
    teamIds: teams,
    loginMethod: null,
    recent: false,
  }
}

async function findApp({ db }: Context, { user, right }: Claim, workspace: string): Promise<App> {
  const installation = `ins_${right.slice(1)}`
  const { all_teams, team_ids, scopes } = found(
    await db.row<{ all_teams: boolean; team_ids: string[]; scopes: App['scopes'] }>(sql`
      select all_teams, team_ids, scopes from installations
      where id = ${installation} and workspace_id = ${workspace} and app_user_id = ${user} and revoked_at is null
        and 'read' = any(scopes)`),
  )
  return {
    kind: 'app',
    id: user,
    name: '',
    workspaceId: workspace,
    workspaceAsked: workspace,
    appId: null,
    appName: '',
    installationId: installation,
    tokenHash: Buffer.alloc(0),
    scopes,
    allTeams: all_teams,
    teamIds: all_teams ? [] : team_ids,
    personalOf: null,
  }
}
