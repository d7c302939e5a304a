import { expect } from 'vitest'
import { testOf } from '../scene.ts'

const count = (text: string, part: string) => text.split(part).length - 1

testOf('webhook-receiver')(
  'the receiver prints each event once and refuses forged ones',
  async ({ scene }) => {
    const { ada } = scene
    await scene.setUp()
    await scene.start()
    const [webhook] = (await ada('GET', '/webhooks')).data

    expect(await ada('POST', `/webhooks/${webhook.id}/test`)).toMatchObject({ ok: true, status: 200 })
    await scene.prints('Ping')

    const issue = await ada('POST', '/issues', { title: 'Mend the door', team_id: scene.teamId })
    await scene.prints('Issue create: ENG-1 Mend the door (')
    await ada('PUT', `/issues/${issue.id}`, { status: 'done' })
    await scene.prints('Issue update: ENG-1 Mend the door (done)')
    await ada('POST', '/comments', { target_type: 'issue', target_id: issue.id, text: 'Well done.' })
    await scene.prints('Comment create: Well done.')

    // A signed and recent duplicate is answered 200, but not printed again.
    const { data } = await ada('GET', `/webhooks/${webhook.id}/deliveries`)
    for (const { id } of data) await ada('POST', `/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    expect(await ada('POST', `/webhooks/${webhook.id}/test`)).toMatchObject({ ok: true, status: 200 })
    await scene.prints('Ping\nIssue')
    expect(count(scene.output, 'Issue create')).toBe(1)
    expect(count(scene.output, 'Issue update')).toBe(1)
    expect(count(scene.output, 'Comment create')).toBe(1)

    const forged = { method: 'POST', headers: { 'svc-signature': '0'.repeat(64) }, body: '{"type":"Issue"}' }
    expect((await fetch(scene.url, forged)).status).toBe(401)
  },
  120_000,
)
