import { expect } from 'vitest'
import { test, verifiesOnPostgres } from '../../test/harness.ts'

test(
  'of many webhooks created in parallel by two processes no more than the limit are stored',
  verifiesOnPostgres('config.webhook-limit'),
  async ({ startApp }) => {
    const limit = 3
    const settings = { BATON_WEBHOOK_LIMIT: String(limit) }
    const app = await startApp(settings)
    const second = await startApp(settings, app)
    for (let round = 0; round < 3; round++) {
      const { owner } = await app.workspace()
      const elsewhere = second.anonymous.with({
        authorization: `Bearer ${owner.token}`,
        'x-workspace-id': owner.workspaceId,
      })
      const create = (index: number) =>
        (index % 2 === 0 ? owner : elsewhere).post('/webhooks', {
          label: `Chat ${index}`,
          url: 'https://hooks.example.com/baton',
          all_teams: true,
          resource_types: ['Issue'],
        })
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index)))
      const statuses = answers.map(({ status, body }) => (status === 409 ? body.code : status)).sort()
      expect(statuses).toEqual([...Array(limit).fill(201), ...Array(20 - limit).fill('WEBHOOK_LIMIT_REACHED')])
      expect((await owner.get('/webhooks')).body.data).toHaveLength(limit)
    }
  },
)
