import { json, sql } from '../db/sql.ts'
import { type Chain, type Hooks, type HookUnit, linksOf } from '../hooks.ts'
import { newId } from '../ids.ts'
import { changeMatches, filteredFields, filterHolds } from './filter.ts'
import { agentGone, memberGone } from './pauses.ts'

/** Name of the wake-up that tells workers of new runs. */
export const runsWakeup = 'automations'

type Links = Chain['before']

interface Caused {
  automationId: string
  workspaceId: string
  version: number
  cause: string
  issueId: string | null
  agentId?: string | null
  chain?: Links | null
}

/** Writes pending runs in the transaction of their cause. A cause that has a run keeps it. */
export async function insertRuns({ tx, now }: Pick<HookUnit, 'tx' | 'now'>, caused: readonly Caused[]) {
  if (caused.length === 0) return []
  const rows = caused.map(({ automationId, workspaceId, version, cause, issueId, agentId, chain }) => ({
    id: newId('run'),
    workspace_id: workspaceId,
    automation_id: automationId,
    version,
    cause,
    issue_id: issueId,
    agent_id: agentId ?? null,
    chain: chain ?? [],
  }))
  const inserted = await tx.rows<{ id: string }>(sql`
    insert into automation_runs (id, workspace_id, automation_id, version, cause, issue_id, agent_id, chain, created_at)
    select id, workspace_id, automation_id, version, cause, issue_id, agent_id, chain, ${now}
    from jsonb_to_recordset(${json(rows)}) as r (id text, workspace_id text, automation_id text, version int, cause text,
      issue_id text, agent_id text, chain jsonb)
    on conflict do nothing returning id`)
  tx.afterCommit('work', [runsWakeup])
  return inserted.map(({ id }) => id)
}

type Matching = Omit<Caused, 'workspaceId'>

/** automation.run-with-change: reads the automations of the issues' teams, and writes a run for each that matches. */
const recorded: Hooks['recorded'] = async (unit, workspaceId, changes) => {
  const pick = (data: Record<string, unknown>) =>
    Object.fromEntries(filteredFields.map((field) => [field, data[field]]))
  const rows = changes.flatMap(({ eventId, action, data, updatedFrom }) =>
    action === 'remove' || !data.team_id
      ? []
      : [
          {
            cause: eventId,
            action,
            issue_id: data.id,
            team_id: data.team_id,
            item: pick(data),
            before: pick({ ...data, ...updatedFrom }),
          },
        ],
  )
  if (rows.length === 0) return
  const { caller } = unit as { caller: { kind?: string; id?: string | null } | null }
  // The agent of a session that an automation opened continues its chain on that issue.
  const chain = unit.chain
    ? json(linksOf(unit.chain))
    : caller?.kind === 'app'
      ? sql`(select s.chain from agent_sessions s where s.issue_id = e.issue_id and s.agent_id = ${caller.id}
          order by s.id desc limit 1)`
      : sql`null::jsonb`
  const matching = await unit.tx.rows<Matching>(sql`
    select a.id as "automationId", a.version, e.cause, e.issue_id as "issueId", ${chain} as chain
    from jsonb_to_recordset(${json(rows)})
      as e (cause text, action text, issue_id text, team_id text, item jsonb, before jsonb)
    join automations a on a.team_id = e.team_id and a.workspace_id = ${workspaceId}
    where a.state = 'on' and a.trigger->>'type' = 'issue' and ${changeMatches(sql`e.action`, sql`e.item`, sql`e.before`)}
    order by e.cause, a.id`)
  await insertRuns(
    unit,
    matching.map((one) => ({ ...one, workspaceId })),
  )
}

const outcomeKinds = ['finished', 'failed', 'asked', 'stopped', 'stale']

const sessionOutcome: Hooks['sessionOutcome'] = async (unit, session, { kind, seq }) => {
  if (!session.issueId || !outcomeKinds.includes(kind)) return
  const item = sql`jsonb_build_object('status', i.status, 'priority', i.priority, 'type', i.type,
    'project_id', i.project_id, 'assignee_id', i.assignee_id, 'delegate_id', i.delegate_id, 'title', i.title,
    'reporter_id', i.reporter_id, 'label_ids', coalesce((
      select jsonb_agg(l.label_id) from issue_labels l where l.issue_id = i.id), '[]'))`
  const matching = await unit.tx.rows<Pick<Matching, 'automationId' | 'version' | 'chain'>>(sql`
    select a.id as "automationId", a.version, s.chain
    from issues i
    join agent_sessions s on s.id = ${session.id}
    join automations a on a.team_id = i.team_id
    cross join lateral (select ${item} as item) as current
    where i.id = ${session.issueId} and not i.personal and a.state = 'on' and a.trigger->>'type' = 'session'
      and a.trigger->'outcomes' ? ${kind} and ${filterHolds(sql`current.item`, sql`${session.agentId}::text`)}
    order by a.id`)
  const { workspaceId, issueId, agentId } = session
  await insertRuns(
    unit,
    matching.map((one) => ({ ...one, workspaceId, issueId, agentId, cause: `${session.id} ${seq}` })),
  )
}

export const automationHooks: Partial<Hooks> = { recorded, sessionOutcome, agentGone, memberGone }
