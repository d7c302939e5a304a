import { expect, hurried, test } from './baton.ts'

test.use({ settings: hurried })

test('in a hurry, a silent agent is soon unresponsive', async ({ company, agent }) => {
  const robot = await agent()
  const { api } = company.owner
  await api.updateIssue({ issue_id: company.issues[0].id, delegate_id: robot.userId })
  const { id } = await robot.session()
  await expect.poll(async () => (await api.getAgentSession({ session_id: id })).unresponsive_since).not.toBeNull()
})
