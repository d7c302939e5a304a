import type { NewAutomation, NewSuggestion } from '@baton/protocol'
import { postActivity } from '../agent-sessions/post.ts'
import { createAutomation } from '../automations/automations.ts'
import { minutes } from '../clock.ts'
import { createComment } from '../comments/comments.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { suggestChanges } from '../suggestions/suggest.ts'
import { setTeamReview } from '../workspaces/team-review.ts'
import * as content from './agent-content.ts'
import type { Company } from './create-agents.ts'
import type { PastClock } from './past-clock.ts'
import { response } from './script.ts'

/** Reviews in Engineering since four weeks, suggestions that wait for the viewer, and three automations. */
export function planDecisions(ctx: Context, past: PastClock, company: Company, scout: App) {
  const { members, teamIds } = company
  const { ada } = members
  const engineering = teamIds.get('ENG') as string
  past.plan(1 / 3, () => setTeamReview(ctx, ada, engineering, { mode: 'on', accept_status: 'qa' }))
  for (const [index, work] of content.suggestedWork.entries()) {
    past.planAgo(minutes(50 - 10 * index), () => suggest(ctx, company, scout, work))
  }
  past.planAgo(minutes(2), async () => {
    const builtIn = found(
      await ctx.db.row<{ id: string }>(sql`
        select user_id as id from inside_agents where workspace_id = ${ada.workspaceId} and owner_id is null`),
    )
    for (const automation of automationsOf(engineering, builtIn.id)) await createAutomation(ctx, ada, automation)
  })
}

async function suggest(ctx: Context, { members, issueIds }: Company, scout: App, work: content.SuggestedWork) {
  const issueId = found(issueIds.get(work.title))
  const text = `@[Scout](${scout.id}) please sort this one in.`
  await createComment(ctx, members.ada, { target_type: 'issue', target_id: issueId, text })
  const session = found(
    await ctx.db.row<{ id: string }>(sql`
      select id from agent_sessions where issue_id = ${issueId} order by id desc limit 1`),
  )
  const suggestions = work.suggestions.map(({ field, value, reason }): NewSuggestion => {
    const stored = field === 'duplicate_of' ? found(issueIds.get(value)) : value
    return { field, value: stored, reason }
  })
  await suggestChanges(ctx, scout, session.id, { suggestions }, undefined)
  await postActivity(ctx, scout, session.id, { body: response(work.answer), key: undefined })
}

const automationsOf = (team_id: string, builtInId: string): NewAutomation[] => [
  {
    team_id,
    name: 'Triage',
    preset: 'triage',
    trigger: { type: 'issue', on: 'created' },
    filter: {},
    actions: [
      { type: 'ask_agent', agent_id: builtInId, text: 'Sort this issue in, and name the one that it repeats.' },
    ],
  },
  {
    team_id,
    name: 'Test the backups',
    preset: 'recurring',
    trigger: { type: 'schedule', cron: '0 9 * * 1', time_zone: 'UTC' },
    filter: {},
    actions: [
      { type: 'create_issue', title: 'Restore the backup of {{date}}', priority: 'medium', skip_if_open: true },
    ],
  },
  {
    team_id,
    name: 'Tell the assignee when an agent fails',
    preset: null,
    trigger: { type: 'session', outcomes: ['failed', 'stale'] },
    filter: {},
    actions: [{ type: 'notify', who: 'assignee' }],
  },
]
