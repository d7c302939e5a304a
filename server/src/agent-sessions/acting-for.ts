import { sql } from '../db/sql.ts'
import { systemActor } from '../events/for-app.ts'
import { actorOf, type EventActor } from '../events/record.ts'
import type { Actor, System } from '../http/caller.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { isOpen } from './read.ts'

/**
 * The actor that events name when the caller changes these issues: for the delegate of an issue, the person who
 * delegated it, otherwise the caller.
 */
export async function actorsOnIssues(
  { tx, caller }: UnitOfWork<Actor | System>,
  issueIds: readonly string[],
): Promise<(issueId: string) => EventActor> {
  if (caller.kind === 'system') return () => systemActor
  const itself = actorOf(caller)
  if (caller.kind === 'person' || issueIds.length === 0) return () => itself
  const delegations = await tx.rows<{ issueId: string; id: string; name: string }>(sql`
    select i.id as "issueId", u.id, u.display_name as name
    from issues i
    join agent_sessions s on s.issue_id = i.id and s.agent_id = i.delegate_id
      and s.delegation_revision = i.delegation_revision
    join users u on u.id = s.creator_id
    where i.id = any(${issueIds}) and i.delegate_id = ${caller.id}`)
  const people = new Map(delegations.map(({ issueId, id, name }) => [issueId, actorOf({ id, name, kind: 'person' })]))
  return (issueId) => people.get(issueId) ?? itself
}

/**
 * The same for a project: the person who opened the agent's open session on it (event.project-actor-under-session). A
 * session the agent opened itself has no requester.
 */
export async function actorOnProject(unit: UnitOfWork<Actor>, projectId: string): Promise<EventActor> {
  const { tx, now, caller, config } = unit
  if (caller.kind === 'person') return actorOf(caller)
  const creator = await tx.row<{ id: string; name: string }>(sql`
    select u.id, u.display_name as name from agent_sessions s join users u on u.id = s.creator_id
    where s.project_id = ${projectId} and s.agent_id = ${caller.id} and not s.opened_by_agent
      and ${isOpen(now, config)}
    order by s.id desc limit 1`)
  return actorOf(creator ? { ...creator, kind: 'person' } : caller)
}
