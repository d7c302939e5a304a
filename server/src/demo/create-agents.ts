import type { IssueUpdate } from '@baton/protocol'
import { registerApp } from '../agent-apps/apps.ts'
import { setChanges } from '../agent-sessions/changes.ts'
import { postActivity } from '../agent-sessions/post.ts'
import { stopSession } from '../agent-sessions/stop.ts'
import { updateSession } from '../agent-sessions/update.ts'
import { hours, minutes } from '../clock.ts'
import type { Context } from '../context.ts'
import { insertSetting } from '../db/settings.ts'
import { sql } from '../db/sql.ts'
import type { App, Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { createIssue } from '../issues/create.ts'
import { updateIssue } from '../issues/update.ts'
import { installApp } from '../oauth/install.ts'
import { findAgentCaller } from './agent-caller.ts'
import * as content from './agent-content.ts'
import type { PersonKey } from './content.ts'
import type { PastClock } from './past-clock.ts'
import { planOf, type Step, showPlan, showSteps, showStepsAtStart } from './script.ts'
import { insertShows } from './shows.ts'

export interface Company {
  members: Record<PersonKey, Member>
  teamIds: ReadonlyMap<string, string>
  /** By title; filled while the planned work runs. */
  issueIds: ReadonlyMap<string, string>
}

/** Names the app in the settings of an instance whose demo has agents. */
export const agentSetting = 'demo_agent'

/** Shorter than the time after which an agent counts as unresponsive. */
const activityMs = 8_000

/** Registers and installs the demo's agent apps, and plans their sessions. */
export async function planAgents(ctx: Context, past: PastClock, company: Company): Promise<{ scout: App }> {
  const { members, teamIds, issueIds } = company
  const { ada } = members
  const install = async (manifest: typeof content.scout, teams: string[]) => {
    const { app } = await registerApp(ctx, ada, manifest)
    await installApp(ctx, ada, app.id, { team_ids: teams.map((key) => teamIds.get(key) as string) })
    return found(await findAgentCaller(ctx.db, app.id))
  }
  const scout = await install(content.scout, ['ENG', 'SUP'])
  const nightShift = await install(content.nightShift, ['ENG'])
  await insertSetting(ctx.db, agentSetting, scout.appId as string)

  const { pastWork } = content
  for (const [index, work] of pastWork.entries()) {
    const part = (index + 0.5) / (pastWork.length + 1)
    const person = members[work.by]
    let issueId = ''
    past.plan(part, async () => {
      const issue = { title: work.title, team_id: teamIds.get(work.team) as string, type: 'bug' as const }
      issueId = (await createIssue(ctx, person, { ...issue, status: 'todo', assignee_id: person.id })).id
      await past.inStepsOf(activityMs, async () => {
        const sessionId = await delegate(ctx, person, issueId, scout, { status: 'in_progress' })
        for (const activity of content.pastActivities[work.outcome]) {
          if (work.outcome === 'stopped' && activity.content.type === 'response')
            await stopSession(ctx, person, sessionId)
          const { id } = await post(ctx, scout, sessionId, activity)
          if (activity === content.pastQuestion)
            await past.inStepsOf(minutes(11 + index), () => answer(ctx, person, sessionId, id))
        }
      })
    })
    const { doneAfterHours } = work
    if (doneAfterHours !== undefined) {
      const ofSpan = hours(doneAfterHours) / past.spanMs
      past.plan(Math.min(0.96, part + ofSpan), () => updateIssue(ctx, person, issueId, { status: 'done' }))
    }
  }

  for (const work of content.stagedWork) {
    past.planAgo(minutes(work.minutesAgo), () =>
      past.inStepsOf(activityMs, () =>
        stage(
          ctx,
          work,
          members[work.by],
          found(issueIds.get(work.title)),
          work.agent === 'scout' ? scout : nightShift,
        ),
      ),
    )
  }
  past.planAgo(minutes(1), () =>
    past.inStepsOf(activityMs, async () => {
      const sessionId = await delegate(ctx, members.jonas, found(issueIds.get(content.showTitle)), scout)
      for (const { activity } of showSteps.slice(0, showStepsAtStart)) await post(ctx, scout, sessionId, activity)
      await updateSession(ctx, scout, sessionId, { plan: planOf(showPlan, 3) })
      await insertShows(ctx.db, { sessionId, startedAt: ctx.clock.now() })
    }),
  )
  return { scout }
}

async function stage(ctx: Context, work: content.StagedWork, person: Member, issueId: string, agent: App) {
  const sessionId = await delegate(ctx, person, issueId, agent)
  if (work.plan) await updateSession(ctx, agent, sessionId, { plan: work.plan })
  if (work.changes) {
    await setChanges(ctx, agent, sessionId, content.stagedChanges)
    await updateSession(ctx, agent, sessionId, { external_urls: content.stagedLinks })
  }
  for (const [index, activity] of work.activities.entries()) {
    if (work.stopped && index === work.activities.length - 1) await stopSession(ctx, person, sessionId)
    await post(ctx, agent, sessionId, activity)
  }
}

/** Delegates the issue, and puts it at the top of its column. Returns the id of the session that this opens. */
async function delegate(ctx: Context, person: Member, issueId: string, agent: App, change: IssueUpdate = {}) {
  const sort_order = ctx.clock.now().getTime()
  await updateIssue(ctx, person, issueId, { delegate_id: agent.id, sort_order, ...change })
  const session = await ctx.db.row<{ id: string }>(sql`
    select id from agent_sessions where issue_id = ${issueId} order by id desc limit 1`)
  return found(session).id
}

const post = (ctx: Context, agent: App, sessionId: string, activity: Step['activity']) =>
  postActivity(ctx, agent, sessionId, { body: activity, key: undefined })

const answer = (ctx: Context, person: Member, sessionId: string, questionId: string) =>
  postActivity(ctx, person, sessionId, {
    body: {
      content: { type: 'prompt', body: 'In the shop' },
      signal_metadata: { in_reply_to: questionId, selected: ['shop'] },
    },
    key: undefined,
  })
