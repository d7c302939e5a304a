import type { Automation, AutomationRun, NewAutomation } from '@baton/protocol'
import { sessionScene } from './agent-sessions.ts'
import type { Client } from './client.ts'
import { done } from './delegation.ts'
import type { TestApp } from './harness.ts'

export const comment = { type: 'comment', text: 'Seen' } as const
export const onCreated = { type: 'issue', on: 'created' } as const
export const onChanged = { type: 'issue', on: 'changed' } as const
export const daily = (cron = '0 9 * * *', time_zone = 'UTC') => ({ type: 'schedule' as const, cron, time_zone })

/** A team with an app, whose owner and member automate it. Unless stated otherwise, the member does. */
export async function automationScene(app: TestApp) {
  const scene = await sessionScene(app)
  const { member, owner, team } = scene
  const draft = (fields: Partial<NewAutomation> = {}) => ({
    team_id: team.id as string,
    name: 'Watcher',
    trigger: onCreated as NewAutomation['trigger'],
    actions: [comment] as NewAutomation['actions'],
    ...fields,
  })
  const automate = (fields: Partial<NewAutomation> = {}, by: Client = member): Promise<Automation> =>
    done(by.post('/automations', draft(fields)))
  const reread = ({ id }: { id: string }): Promise<Automation> => done(owner.get(`/automations/${id}`))
  /** Newest first. */
  const runsOf = async ({ id }: { id: string }): Promise<AutomationRun[]> =>
    (await done(owner.get(`/automations/${id}/runs`))).data
  const commentsOn = async ({ id }: { id: string }) =>
    (await done(owner.get(`/comments?target_type=issue&target_id=${id}`))).data
  const issue = (id: string) => done(owner.get(`/issues/${id}`))
  const inboxOf = async (person: Client, kind: string) =>
    (await done(person.get('/inbox'))).data.filter((entry: { kind: string }) => entry.kind === kind)
  const work = () => app.workOnAutomations()
  return { ...scene, app, draft, automate, reread, runsOf, commentsOn, issue, inboxOf, work }
}
export type AutomationScene = Awaited<ReturnType<typeof automationScene>>
