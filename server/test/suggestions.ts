import { sessionScene } from './agent-sessions.ts'
import { done } from './delegation.ts'
import type { TestApp, TestPerson } from './harness.ts'

export const reason = 'Similar issues have it'
export const one = (field: string, value: unknown) => ({ field, value, reason })

/** An issue that the member asked the app to look at, and functions for its suggestions. */
export async function triageScene(app: TestApp) {
  const scene = await sessionScene(app)
  const { owner, robot } = scene
  const label = await done(owner.post('/labels', { name: 'Blue' }))
  const red = await done(owner.post('/labels', { name: 'Red' }))
  const asked = async (fields = {}) => {
    const issue = await scene.newIssue(fields)
    const session = await scene.mentioned(issue)
    const suggest = (suggestions: unknown[], headers = {}) =>
      robot.post(`${session.path}/suggestions`, { suggestions }, { headers })
    const open = async () => (await done(owner.get(`/issues/${issue.id}/suggestions?state=open`))).data
    const decide = (body: object, by: TestPerson = owner) => by.post(`/issues/${issue.id}/suggestions/decide`, body)
    return { issue, session, suggest, open, decide, read: () => done(owner.get(`/issues/${issue.id}`)) }
  }
  return { ...scene, label, red, asked }
}
