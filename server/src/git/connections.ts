import type { GitConnection, GitConnectionChange, GitDelivery, GitKind, NewGitConnection } from '@baton/protocol'
import { programLimits } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Keyring } from '../crypto.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { judgeUrl } from '../outbound/target.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace, transactAs } from '../workspaces/members.ts'
import { apiUrl } from './hosts.ts'
import { newGitSecret } from './signatures.ts'

const columns = sql`id, kind, name, host, repositories, team_ids, token is not null as has_token, received_at, refused`

const defaultHosts: Readonly<Record<GitKind, string>> = {
  github: 'github.com',
  gitlab: 'gitlab.com',
  gitea: 'gitea.com',
  forgejo: 'codeberg.org',
}

/** Sealed texts are bound to the connection and to their purpose. */
export const sealedToken = (keys: Keyring, id: string, token: string) => keys.seal(token, `${id} token`)
export const openToken = (keys: Keyring, id: string, sealed: string) => keys.open(sealed, `${id} token`)

export const listConnections = ({ db, keys }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<GitConnection>(
    keys,
    'git connections',
    query,
    ({ id }) => [id],
    (after, count) =>
      db.rows(sql`
      select ${columns} from git_connections
      where workspace_id = ${workspaceId} ${after ? sql`and id < ${after[0]}` : none}
      order by id desc limit ${count}`),
  )

export const readConnection = async (db: Queryable, workspaceId: string, id: string, lock = none) =>
  found(
    await db.row<GitConnection>(sql`
      select ${columns} from git_connections where workspace_id = ${workspaceId} and id = ${id} ${lock}`),
  )

export const createConnection = (ctx: Context, admitted: Member, wanted: NewGitConnection) =>
  transact(ctx, admitted, async (admission) => {
    // Concurrent creates are counted one after the other.
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const { tx, now, caller } = unit
    const { kind, name, repositories } = wanted
    const id = newId('gcn')
    const host = hostOf(wanted.host ?? defaultHosts[kind])
    const team_ids = wanted.team_ids ?? null
    const token = wanted.token ?? null
    await check(unit, { kind, host, repositories, team_ids }, token !== null)
    await checkLimit(unit)
    const secret = newGitSecret()
    await tx.run(sql`
      insert into git_connections
        (id, workspace_id, kind, name, host, repositories, team_ids, secret, token, created_at, updated_at)
      values (${id}, ${caller.workspaceId}, ${kind}, ${name}, ${host}, ${repositories}, ${team_ids},
        ${ctx.keys.seal(secret, id)}, ${token && sealedToken(ctx.keys, id, token)}, ${now}, ${now})`)
    const details = { name, kind, host, repositories, has_token: token !== null }
    await recordAudit(unit, { action: 'git_connection.created', subjectId: id, details })
    return { ...(await readConnection(tx, caller.workspaceId, id)), secret }
  })

export const updateConnection = (ctx: Context, admitted: Member, id: string, change: GitConnectionChange) =>
  changing(ctx, admitted, id, async (unit, before) => {
    const { tx, now, caller } = unit
    const { token, ...fields } = change
    const after = { ...before, ...fields, host: hostOf(change.host ?? before.host) }
    const hasToken = token === undefined ? before.has_token : token !== null
    // The token belongs to the previous host.
    if (before.has_token && after.host !== before.host && token === undefined)
      throw invalid({ token: 'must be sent again, or as null, when the host changes' })
    // A deleted team may have been the only one.
    await check(unit, { ...after, team_ids: change.team_ids ?? null }, hasToken)
    const stored = token && sealedToken(ctx.keys, id, token)
    await tx.run(sql`
      update git_connections set name = ${after.name}, host = ${after.host}, repositories = ${after.repositories},
        team_ids = ${after.team_ids}, token = ${token === undefined ? sql`token` : stored}, updated_at = ${now}
      where id = ${id}`)
    const updated = await readConnection(tx, caller.workspaceId, id)
    const changes = changesBetween(before, updated, ['name', 'host', 'repositories', 'team_ids', 'has_token'])
    const details = { name: updated.name, fields: Object.keys(change), changes }
    await recordAudit(unit, { action: 'git_connection.updated', subjectId: id, details })
    return updated
  })

export const deleteConnection = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (unit, { name, kind }) => {
    await unit.tx.run(sql`delete from git_connections where id = ${id}`)
    await recordAudit(unit, { action: 'git_connection.deleted', subjectId: id, details: { name, kind } })
  })

export const rotateSecret = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (unit, { name }) => {
    const secret = newGitSecret()
    await unit.tx.run(sql`
      update git_connections set secret = ${ctx.keys.seal(secret, id)}, updated_at = ${unit.now} where id = ${id}`)
    await recordAudit(unit, { action: 'git_connection.secret_rotated', subjectId: id, details: { name } })
    return { secret }
  })

/** Runs `work` with the manager's role confirmed and the connection locked. */
const changing = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  work: (unit: UnitOfWork<Member>, connection: GitConnection) => Promise<T>,
) =>
  transactAs(ctx, admitted, 'manager', async (unit) =>
    work(unit, await readConnection(unit.tx, admitted.workspaceId, id, sql`for update`)),
  )

/** Without https:// and a final slash. */
const hostOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/^https:\/\//, '')
    .replace(/\/$/, '')

type Checked = Pick<GitConnection, 'kind' | 'host' | 'repositories' | 'team_ids'>

async function check({ tx, config, caller }: UnitOfWork<Member>, connection: Checked, hasToken: boolean) {
  const { kind, host, repositories, team_ids } = connection
  const problems: Record<string, string> = {}
  // Without a token nothing is sent there, so that an internal host needs no permission.
  const judged = judgeUrl(apiUrl(kind, host), config.webhookAllow)
  if ('refused' in judged && (hasToken || host.startsWith('http:'))) problems.host = judged.refused
  if (new Set(repositories.map((name) => name.toLowerCase())).size < repositories.length)
    problems.repositories = 'must contain each repository once'
  if (kind !== 'gitlab' && repositories.some((name) => name.split('/').length > 2))
    problems.repositories = 'must contain names such as owner/name'
  if (team_ids) {
    if (team_ids.length === 0) problems.team_ids = 'must be null for all teams, or name one or more teams'
    const known = await tx.rows(sql`
      select id from teams where workspace_id = ${caller.workspaceId} and id = any(${team_ids})`)
    if (known.length < team_ids.length) problems.team_ids = 'contains an id that is not a team of this workspace'
  }
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

async function checkLimit({ tx, caller }: UnitOfWork<Member>) {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from git_connections where workspace_id = ${caller.workspaceId}`)
  if (row && row.count >= programLimits.gitConnections)
    throw invalid({
      repositories: `the workspace has ${programLimits.gitConnections} connections, the maximum; add to one`,
    })
}

/** A deleted team; a connection for no other team links nothing any more. Locks connections before issues. */
export const removeTeamFromConnections = (tx: Tx, workspaceId: string, teamId: string) =>
  tx.run(sql`
    update git_connections set team_ids = array_remove(team_ids, ${teamId})
    where workspace_id = ${workspaceId} and ${teamId} = any(team_ids)`)

export async function listDeliveries(ctx: Context, caller: Member, connectionId: string, query: PageQuery) {
  await readConnection(ctx.db, caller.workspaceId, connectionId)
  return page<GitDelivery>(
    ctx.keys,
    `git deliveries of ${connectionId}`,
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
      select d.id, d.event, d.outcome, d.repository, d.number, d.pull_request_id, d.received_at,
        case when p.commented_at is not null then 'posted' when p.comment_due_at is not null then 'waiting'
          when p.comment_attempts > 0 then 'failed' end as comment
      from (
        select * from git_deliveries where connection_id = ${connectionId} order by id desc limit ${programLimits.gitDeliveries}
      ) d left join pull_requests p on p.id = d.pull_request_id
      where true ${after ? sql`and d.id < ${after[0]}` : none}
      order by d.id desc limit ${count}`),
  )
}

/** Seals secrets and tokens again with the current key, so that the previous key can be removed after one start. */
export async function resealConnections(db: Db, keys: Keyring) {
  const old = `${keys.currentPrefix}%`
  const rows = await db.rows<{ id: string; secret: string; token: string | null }>(sql`
    select id, secret, token from git_connections where secret not like ${old} or token not like ${old}`)
  for (const { id, secret, token } of rows) {
    await db.run(sql`
      update git_connections set secret = ${keys.seal(keys.open(secret, id), id)},
        token = ${token && sealedToken(keys, id, openToken(keys, id, token))}
      where id = ${id} and secret = ${secret} and token is not distinct from ${token}::text`)
  }
}
