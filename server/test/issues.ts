import type { TestApp, TestWorkspace } from './harness.ts'

export interface IssueScene extends TestWorkspace {
  team: { id: string; key: string }
  other: { id: string; key: string }
}

/** A workspace with two teams for issues. */
export const issueScene = async (app: TestApp): Promise<IssueScene> => {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: other } = await workspace.owner.post('/teams', { name: 'Design', key: 'DES' })
  return { ...workspace, team, other }
}

export const makeIssue = async ({ owner, team }: IssueScene, fields: object = {}) =>
  (await owner.post('/issues', { title: 'A bug', team_id: team.id, ...fields })).body
