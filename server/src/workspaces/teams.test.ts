import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'

test(
  'a manager creates a team and becomes a member of it',
  verifies('team.create', 'team.members-list'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const created = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    expect(created.status).toBe(201)
    expect((await owner.get('/teams')).body.data).toEqual([created.body])
    const { data } = (await owner.get(`/teams/${created.body.id}/members`)).body
    expect(data).toMatchObject([{ id: owner.user.id }])
  },
)
