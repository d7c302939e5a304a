import type { Issue, IssueChange } from '@baton/protocol'
import { endOnMoved, endOnPersonal } from '../agent-sessions/end.ts'
import { openForPerson } from '../agent-sessions/open.ts'
import { stopDelegation } from '../agent-sessions/stop.ts'
import { laterThan } from '../clock.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { actorOf, record } from '../events/record.ts'
import type { Actor, Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type Agent, findAgents } from '../installations/agents.ts'
import { coversPlace, unavailableReason } from '../installations/availability.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { heardOf, recordHistory, teamsOf, tellWatchers } from './changes.ts'
import { lockIssues, type StoredIssue } from './queries.ts'
import { withUrl } from './read.ts'

/** The agent that a person wants to give an issue to. Held before the issue is, as whoever takes teams away does. */
export async function holdDelegate(unit: UnitOfWork<Actor>, { delegate_id }: IssueChange): Promise<Agent | undefined> {
  if (!delegate_id) return undefined
  return (await findAgents(unit.tx, unit.caller.workspaceId, [delegate_id], sql`for share of i`))[0]
}

interface Delegating {
  before: Issue | null
  after: Issue
  change: IssueChange
  /** As `holdDelegate` found it. */
  wanted: Agent | undefined
}

/**
 * What a write makes of the delegation of an issue (3.4). `after` is the issue as it will be; its delegate, revision and
 * assignee are set here. An agent that does not cover the issue's new place loses it.
 */
export async function settleDelegate(unit: UnitOfWork<Actor>, delegating: Delegating) {
  const { before, after, wanted } = delegating
  const was = before?.delegate_id ?? null
  if (was && after.delegate_id === was && (await isLost(unit, before as Issue, after))) after.delegate_id = null
  if (after.delegate_id === was) {
    if (was && after.assignee_id === null && before?.assignee_id) throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
    return
  }
  after.delegation_revision = (before?.delegation_revision ?? 0) + 1
  if (after.delegate_id === null) return
  if (!wanted) throw invalid({ delegate_id: 'is not an agent of this workspace' })
  const place = { personal: after.personal, teamIds: teamsOf(after) }
  const reason = unavailableReason(wanted.standing, place, unit.caller.id)
  if (reason) throw new ApiError('DELEGATE_UNAVAILABLE', { reason })
  after.assignee_id = await accountable(unit, delegating)
}

async function isLost({ tx, caller }: UnitOfWork<Actor>, before: Issue, after: Issue) {
  if (after.personal && !before.personal) return true
  if (after.team_id === before.team_id) return false
  const [agent] = await findAgents(tx, caller.workspaceId, [before.delegate_id as string])
  return !agent?.standing || !coversPlace(agent.standing, { personal: after.personal, teamIds: teamsOf(after) })
}

/** 3.4.2, 3.4.3: somebody stays accountable: who is assigned, else who delegates; from outside the team, a teammate. */
async function accountable({ tx, caller }: UnitOfWork<Actor>, { before, after, change }: Delegating) {
  const assigned = before?.assignee_id ?? null
  if (assigned && after.assignee_id) return after.assignee_id
  // Taking the assignee away and delegating in one write would leave nobody.
  if (assigned && change.assignee_id === null) throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
  const insider = await isInTeam(tx, after.team_id, caller.id)
  if (insider) return after.assignee_id ?? caller.id
  if (after.assignee_id && (await isInTeam(tx, after.team_id, after.assignee_id))) return after.assignee_id
  throw new ApiError('DELEGATION_REQUIRES_ASSIGNEE')
}

/** Nobody is outside where there is no team. */
const isInTeam = async (tx: Tx, teamId: string | null, userId: string) =>
  teamId === null ||
  (await tx.row(sql`select 1 from team_members where team_id = ${teamId} and user_id = ${userId}`)) !== undefined

/** Before the issue is written: sessions of agents that are about to lose sight of it end at once. */
export async function partFromAgents(unit: UnitOfWork, before: Issue, after: Issue) {
  if (after.personal && !before.personal) await endOnPersonal(unit, { issueId: after.id })
  else if (after.team_id !== before.team_id) await endOnMoved(unit, { issueId: after.id }, teamsOf(after))
}

/** After the issue is written: the agent that lost it is asked to stop, the one that got it begins. */
export async function tellAgents(
  unit: UnitOfWork<Actor>,
  before: Issue | null,
  after: Issue,
  wanted: Agent | undefined,
) {
  const { caller } = unit
  if (caller.kind === 'app' || after.delegate_id === (before?.delegate_id ?? null)) return
  const byPerson = { ...unit, caller }
  if (before?.delegate_id) {
    const { id: issueId, delegate_id: agentId, delegation_revision: revision } = before
    await stopDelegation(byPerson, { issueId, agentId, revision })
  }
  if (after.delegate_id && wanted) {
    await openForPerson(byPerson, {
      agent: wanted,
      place: { issueId: after.id },
      personalOf: after.personal ? after.reporter_id : null,
      revision: after.delegation_revision,
    })
  }
}

/** 3.2: an installation lost teams, or went away; what was delegated to it there is nobody's but its assignee's. */
export async function releaseUncovered(unit: UnitOfWork<Member>, { id, agentId }: { id: string; agentId: string }) {
  const uncovered = await unit.tx.rows<{ id: string }>(sql`
    select i.id from issues i join installations n on n.id = ${id}
    where i.delegate_id = ${agentId} and (n.revoked_at is not null
      or not n.all_teams and (i.team_id is null or i.team_id <> all(n.team_ids)))`)
  await release(unit, agentId, uncovered)
}

/** The same for an agent inside the service that is no more. */
export async function releaseAllOf(unit: UnitOfWork<Member>, agentId: string) {
  const issues = await unit.tx.rows<{ id: string }>(sql`select id from issues where delegate_id = ${agentId}`)
  await release(unit, agentId, issues)
}

async function release(unit: UnitOfWork<Member>, agentId: string, issues: { id: string }[]) {
  const { tx, now, caller, config } = unit
  const ids = issues.map((issue) => issue.id)
  // A person may have taken some away from it while we waited.
  const locked = (await lockIssues(tx, caller.workspaceId, ids)).filter(({ delegate_id }) => delegate_id === agentId)
  if (locked.length === 0) return
  const pairs = locked.map((issue): [Issue, Issue] => {
    const before = withUrl(config, issue)
    return [before, released(before, now)]
  })
  await writeDelegates(
    tx,
    pairs.map(([, after]) => after),
  )
  await recordHistory(unit, pairs)
  await record(
    unit,
    pairs.flatMap(([before, after]) => heardOf(actorOf(caller), before, after)),
  )
  for (const [, after] of pairs) if (after.personal) tellWatchers(unit, 'update', after)
}

const released = (issue: Issue, now: Date): Issue => ({
  ...issue,
  delegate_id: null,
  delegation_revision: issue.delegation_revision + 1,
  updated_at: laterThan(issue.updated_at, now),
})

function writeDelegates(tx: Tx, issues: StoredIssue[]) {
  const rows = issues.map(({ id, delegate_id, delegation_revision, updated_at }) => ({
    id,
    delegate_id,
    delegation_revision,
    updated_at,
  }))
  return tx.run(sql`
    update issues i set delegate_id = n.delegate_id, delegation_revision = n.delegation_revision,
      updated_at = n.updated_at
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as n (id text, delegate_id text, delegation_revision int, updated_at timestamptz)
    where i.id = n.id`)
}
