import { limits, type NewPersonalAgent, type PersonalAgent, type PersonalAgentChange } from '@baton/protocol'
import { endAllOf } from '../agent-sessions/end.ts'
import { deleteSessions } from '../agent-sessions/retention.ts'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { releaseAllOf } from '../issues/delegation.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import { deleteUsers, renameUser } from '../login/users.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { createInsideAgent } from './inside-agents.ts'

const columns = sql`
  u.id, u.display_name as name, n.instructions, u.user_kind, u.agent_kind, n.created_at, n.updated_at`

const ofOwner = ({ workspaceId, id }: Pick<Member, 'workspaceId' | 'id'>) =>
  sql`n.workspace_id = ${workspaceId} and n.owner_id = ${id} and n.deleted_at is null`

export const listPersonalAgents = (ctx: Context, caller: Member, query: PageQuery) =>
  page<PersonalAgent>(
    ctx.keys,
    'personal agents',
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
        select ${columns} from inside_agents n join users u on u.id = n.user_id
        where ${ofOwner(caller)} ${after ? sql`and n.user_id < ${after[0]}` : none}
        order by n.user_id desc limit ${count}`),
  )

export const createPersonalAgent = (ctx: Context, caller: Member, { name, instructions }: NewPersonalAgent) =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await mustBeBelowLimit(tx, caller)
    const { workspaceId, id: ownerId } = caller
    const id = await createInsideAgent(unit, { kind: 'personal', name, instructions, workspaceId, ownerId })
    await recordAudit(unit, { action: 'personal_agent.created', subjectId: id, details: { name } })
    notifyOwner(tx, caller)
    return readAgent(tx, caller, id)
  })

export const updatePersonalAgent = (ctx: Context, caller: Member, id: string, change: PersonalAgentChange) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const before = await readAgent(tx, caller, id, sql`for update of n`)
    const { name = before.name, instructions = before.instructions } = change
    if (name === before.name && instructions === before.instructions) return before
    await renameUser(tx, id, name)
    await tx.run(sql`
      update inside_agents set instructions = ${instructions}, updated_at = ${now} where user_id = ${id}`)
    const changes = changesBetween(before, { ...before, name, instructions }, ['name', 'instructions'])
    const details = { fields: Object.keys(change), changes }
    await recordAudit(unit, { action: 'personal_agent.updated', subjectId: id, details })
    notifyOwner(tx, caller)
    return readAgent(tx, caller, id)
  })

export const deletePersonalAgent = (ctx: Context, caller: Member, id: string) =>
  transact(ctx, caller, async (unit) => {
    await retire(unit, await readAgent(unit.tx, caller, id, sql`for update of n`))
    notifyOwner(unit.tx, caller)
  })

/** Call when a member leaves or is removed: their agents have no owner to work for. */
export async function retireAgentsOf(unit: UnitOfWork<Member>, ownerId: string) {
  const agents = await unit.tx.rows<{ id: string; name: string }>(sql`
    select u.id, u.display_name as name from inside_agents n join users u on u.id = n.user_id
    where ${ofOwner({ workspaceId: unit.caller.workspaceId, id: ownerId })} order by n.user_id for update of n`)
  for (const agent of agents) await retire(unit, agent)
}

/** agent.personal-deleted: the same as uninstalling an app. Its comments and activities stay, under its name. */
async function retire(unit: UnitOfWork<Member>, { id, name }: { id: string; name: string }) {
  await unit.tx.run(sql`update inside_agents set deleted_at = ${unit.now} where user_id = ${id}`)
  await releaseAllOf(unit, id)
  await endAllOf(unit, id)
  await recordAudit(unit, { action: 'personal_agent.deleted', subjectId: id, details: { name } })
}

const readAgent = async (tx: Tx, caller: Member, id: string, hold: Sql = none) =>
  found(
    await tx.row<PersonalAgent>(sql`
      select ${columns} from inside_agents n join users u on u.id = n.user_id
      where n.user_id = ${id} and ${ofOwner(caller)} ${hold}`),
  )

/** Locks the membership, so that concurrent creates are counted and a leaving member creates none. */
async function mustBeBelowLimit(tx: Tx, caller: Member) {
  const { workspaceId, id } = caller
  const member = await tx.row(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${id} for no key update`)
  if (!member) throw new ApiError('WORKSPACE_ACCESS_DENIED')
  const limit = limits.personalAgentsPerPerson
  const kept = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from inside_agents n where ${ofOwner(caller)}`)
  if (found(kept).count >= limit) throw new ApiError('PERSONAL_AGENT_LIMIT_REACHED', { limit })
}

/** Only the owner's list contains the agent. */
const notifyOwner = (tx: Tx, { workspaceId, id }: Member) => sendHints(tx, [hintOfLists(workspaceId, 'Agents', id)])

/** Deletes the personal agents of an erased person with their sessions, and returns how many. */
export async function deleteAgentsOf(tx: Tx, ownerId: string): Promise<number> {
  const agents = await tx.rows<{ id: string }>(sql`
    select user_id as id from inside_agents where owner_id = ${ownerId} order by user_id for update`)
  const ids = agents.map(({ id }) => id)
  const theirs = sql`s.agent_id = any(${ids}) or s.personal_of = ${ownerId} or s.owner_id = ${ownerId}`
  while ((await deleteSessions(tx, theirs)) > 0);
  await deleteUsers(tx, ids)
  return ids.length
}
