import type { Issue, IssueChange } from '@baton/protocol'
import { endOnMoved, endOnPersonal } from '../agent-sessions/end.ts'
import { openForPerson } from '../agent-sessions/open.ts'
import { stopDelegation } from '../agent-sessions/stop.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type Agent, findAgents } from '../installations/agents.ts'
import { coversPlace, unavailableReason } from '../installations/availability.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { teamsOf } from './changes.ts'
import { changeIssues } from './many.ts'

/** Locks the requested delegate. Call before locking the issue: changes of coverage lock in the same order. */
export async function lockDelegate(unit: UnitOfWork<Actor>, { delegate_id }: IssueChange): Promise<Agent | undefined> {
  if (!delegate_id) return undefined
  return (await findAgents(unit, [delegate_id], sql`for share of i`))[0]
}

interface DelegationChange {
  before: Issue | null
  after: Issue
  change: IssueChange
  /** Result of `lockDelegate`. */
  newDelegate: Agent | undefined
}

/**
 * Sets delegate, revision and assignee of `after`, the issue to be written. An agent that does not cover the issue's new
 * team loses the delegation (installation.issue-moved-out).
 */
export async function applyDelegation(unit: UnitOfWork<Actor>, delegation: DelegationChange) {
  const { before, after, newDelegate } = delegation
  const previousId = before?.delegate_id ?? null
  if (previousId && after.delegate_id === previousId && (await losesDelegate(unit, before as Issue, after))) {
    after.delegate_id = null
  }
  if (after.delegate_id === previousId) {
    if (previousId && after.assignee_id === null && before?.assignee_id) {
      throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
    }
    return
  }
  after.delegation_revision = (before?.delegation_revision ?? 0) + 1
  if (after.delegate_id === null) return
  if (!newDelegate) throw invalid({ delegate_id: 'is not an agent of this workspace' })
  const place = { personal: after.personal, teamIds: teamsOf(after) }
  const reason = unavailableReason(newDelegate.access, place, unit.caller.id)
  if (reason) throw new ApiError('DELEGATE_UNAVAILABLE', { reason })
  after.assignee_id = await chooseAssignee(unit, delegation)
}

async function losesDelegate(unit: UnitOfWork<Actor>, before: Issue, after: Issue) {
  if (after.personal && !before.personal) return true
  if (after.team_id === before.team_id) return false
  const [agent] = await findAgents(unit, [before.delegate_id as string])
  return !agent?.access || !coversPlace(agent.access, { personal: after.personal, teamIds: teamsOf(after) })
}

/**
 * A delegated issue always has an assignee: the current one, otherwise the caller. A caller outside the team must name a
 * member of the team (delegation.unassigned-issue-makes-delegator-assignee,
 * delegation.outsider-naming-teammate-accepted).
 */
async function chooseAssignee({ tx, caller }: UnitOfWork<Actor>, { before, after, change }: DelegationChange) {
  const previous = before?.assignee_id ?? null
  const assigned = previous && (await isPlaceholder(tx, previous)) ? null : previous
  const wanted = previous !== assigned && after.assignee_id === previous ? null : after.assignee_id
  if (assigned && wanted) return wanted
  // Clearing the assignee while delegating would leave the issue without one.
  if (assigned && change.assignee_id === null) throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
  if (await isInTeam(tx, after.team_id, caller.id)) return wanted ?? caller.id
  if (wanted && (await isInTeam(tx, after.team_id, wanted))) return wanted
  throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
}

/** A person of imported data is accountable for nothing (import.placeholder). */
const isPlaceholder = async (tx: Tx, userId: string) =>
  (await tx.row(sql`select 1 from users where id = ${userId} and placeholder_in is not null`)) !== undefined

/** Without a team, every member counts as inside. */
const isInTeam = async (tx: Tx, teamId: string | null, userId: string) =>
  teamId === null ||
  (await tx.row(sql`select 1 from team_members where team_id = ${teamId} and user_id = ${userId}`)) !== undefined

/** Ends the sessions of agents that lose access to the issue. Call before the issue is written. */
export async function endLostSessions(unit: UnitOfWork, before: Issue, after: Issue) {
  if (after.personal && !before.personal) await endOnPersonal(unit, { issueId: after.id })
  else if (after.team_id !== before.team_id) await endOnMoved(unit, { issueId: after.id }, teamsOf(after))
}

/** Sends the previous delegate a stop signal and opens a session for the new one. Call after the issue is written. */
export async function switchSessions(
  unit: UnitOfWork<Actor>,
  before: Issue | null,
  after: Issue,
  newDelegate: Agent | undefined,
) {
  const { caller } = unit
  if (caller.kind === 'app' || after.delegate_id === (before?.delegate_id ?? null)) return
  const byPerson = { ...unit, caller }
  if (before?.delegate_id) {
    const { id: issueId, delegate_id: agentId, delegation_revision: revision } = before
    await stopDelegation(byPerson, { issueId, agentId, revision })
  }
  if (after.delegate_id && newDelegate) {
    await openForPerson(byPerson, {
      agent: newDelegate,
      subject: { issueId: after.id },
      personalOf: after.personal ? after.reporter_id : null,
      revision: after.delegation_revision,
    })
  }
}

/**
 * Removes the delegations that an installation no longer covers (delegation.released-on-team-removal,
 * delegation.released-on-uninstall).
 */
export async function releaseUncovered(unit: UnitOfWork<Member>, { id, agentId }: { id: string; agentId: string }) {
  const uncovered = await unit.tx.rows<{ id: string }>(sql`
    select i.id from issues i join installations n on n.id = ${id}
    where i.delegate_id = ${agentId} and (n.revoked_at is not null
      or not n.all_teams and (i.team_id is null or i.team_id <> all(n.team_ids)))`)
  await release(unit, agentId, uncovered)
}

/** Removes all delegations of a deleted agent (agent.personal-deleted). */
export async function releaseAllOf(unit: UnitOfWork<Member>, agentId: string) {
  const issues = await unit.tx.rows<{ id: string }>(sql`select id from issues where delegate_id = ${agentId}`)
  await release(unit, agentId, issues)
}

/** The delegate may have changed before the issue was locked. */
const release = (unit: UnitOfWork<Member>, agentId: string, issues: { id: string }[]) =>
  changeIssues(
    unit,
    issues.map(({ id }) => id),
    ({ delegate_id }) => (delegate_id === agentId ? { delegate_id: null } : null),
  )
