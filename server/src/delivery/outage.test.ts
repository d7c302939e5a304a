import { describe, expect, test as unit } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { webhookScene } from '../../test/webhook.ts'
import { isStruggling } from './outage.ts'

describe('an outage is reported', () => {
  const now = new Date('2026-03-02T09:10:00.000Z')
  const outage = { attempts: 5, since: '2026-03-02T09:00:00.000Z', reported: false }
  unit('after five failed attempts over ten minutes, once', verifies('standard-webhook.alert'), () => {
    expect(isStruggling(outage, now)).toBe(true)
    expect(isStruggling({ ...outage, attempts: 4 }, now)).toBe(false)
    expect(isStruggling({ ...outage, since: '2026-03-02T09:00:00.001Z' }, now)).toBe(false)
    expect(isStruggling({ ...outage, reported: true }, now)).toBe(false)
    expect(isStruggling({ attempts: 0, since: null, reported: false }, now)).toBe(false)
  })

  test(
    'to managers, and again only after an attempt has succeeded',
    verifies('standard-webhook.alert'),
    async ({ app, receiver }) => {
      const { owner, admin, member, webhook, issue } = await webhookScene(app, receiver)
      const struggling = async (person = owner) =>
        (await person.get('/inbox')).body.data.filter(({ kind }: { kind: string }) => kind === 'webhook_struggling')
      const attempt = async (status: number) => {
        receiver.answer = status
        await issue()
        await app.deliver()
      }
      for (let failed = 0; failed < 5; failed++) await attempt(500)
      expect(await struggling()).toEqual([])
      // The sixth, ten minutes after the first; the retries of a minute come with it.
      app.clock.advance({ minutes: 10 })
      await app.deliver()
      for (const manager of [owner, admin]) {
        expect(await struggling(manager)).toMatchObject([{ subject_id: webhook.id, title: 'Chat', actor: null }])
      }
      expect(await struggling(member)).toEqual([])
      app.clock.advance({ minutes: 10 })
      await attempt(500)
      expect(await struggling()).toHaveLength(1)

      await attempt(200)
      for (let failed = 0; failed < 4; failed++) await attempt(500)
      app.clock.advance({ minutes: 10, milliseconds: -1 })
      await attempt(500)
      expect(await struggling()).toHaveLength(1)
      app.clock.advance({ milliseconds: 1 })
      await attempt(500)
      expect(await struggling()).toHaveLength(2)
    },
  )

  test('to the registrant of an app too', verifies('standard-webhook.alert'), async ({ app, receiver }) => {
    const { owner, member, join } = await app.workspace()
    const other = await join('member')
    const manifest = {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
      webhook: { url: receiver.url, resource_types: ['Issue'] },
    }
    const { body } = await member.post('/agent-apps', manifest)
    expect((await owner.post(`/agent-apps/${body.app.id}/install`, { all_teams: true, scopes: ['read'] })).status).toBe(
      201,
    )
    receiver.answer = 500
    for (let failed = 0; failed < 5; failed++) await owner.post('/issues', { title: 'A bug' })
    await app.deliver()
    app.clock.advance({ minutes: 10 })
    await app.deliver()
    for (const person of [owner, member]) {
      const { data } = (await person.get('/inbox')).body
      expect(data.filter(({ kind }: { kind: string }) => kind === 'webhook_struggling')).toMatchObject([
        { title: 'Robot', url: expect.stringContaining(body.app.id) },
      ])
    }
    expect((await other.get('/inbox')).body.data).toEqual([])
  })
})
