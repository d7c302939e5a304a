import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { isSigned, type Received, type Receiver, standardSignature } from '../../test/receiver.ts'
import { only, webhookScene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

interface Rotated {
  secret: string
  takes_over_at?: string
}

/** The webhook of a workspace or of an app: both rotate alike. */
const scenes = {
  'a webhook': async (app: TestApp, receiver: Receiver) => {
    const { owner, member, webhook, path, issue } = await webhookScene(app, receiver)
    return {
      caller: owner,
      stranger: member,
      endpointId: webhook.id as string,
      path: `${path}/secret`,
      secret: webhook.secret as string,
      issue,
      rotated: (body: Record<string, string>): Rotated => body as never,
    }
  },
  'the webhook of an app': async (app: TestApp, receiver: Receiver) => {
    const { owner, member } = await app.workspace()
    const { app: agentApp } = await app.installed(owner, { webhook: { url: receiver.url, resource_types: ['Issue'] } })
    const path = `/agent-apps/${agentApp.id}/webhook-secret`
    const row = await app.ctx.db.row<{ id: string }>(sql`
      select endpoint_id as id from agent_apps where id = ${agentApp.id}`)
    return {
      caller: owner,
      stranger: member,
      endpointId: row?.id ?? '',
      path,
      secret: (await owner.post(path)).body.webhook_secret as string,
      issue: () => owner.post('/issues', { title: 'A bug' }),
      rotated: ({ webhook_secret: secret, ...rest }: Record<string, string>): Rotated => ({ secret, ...rest }) as never,
    }
  },
}

describe.each(Object.entries(scenes))('%s', (_, makeScene) => {
  const begin = async (app: TestApp, receiver: Receiver) => {
    const scene = await makeScene(app, receiver)
    const rotate = async (body?: object) => scene.rotated((await scene.caller.post(scene.path, body)).body)
    /** The next delivery. */
    const delivered = async (): Promise<Received> => {
      await scene.issue()
      await app.deliver()
      return only(receiver.take())
    }
    return { ...scene, rotate, delivered }
  }

  test(
    'rotated without a body signs only with the new secret from then on',
    verifies('rotation.default-unchanged'),
    async ({ app, receiver }) => {
      const { rotate, delivered, secret: old } = await begin(app, receiver)
      for (const body of [undefined, {}]) {
        const rotated = await rotate(body)
        expect(rotated).toEqual({ secret: expect.stringMatching(/^pwhsec_/) })
        const got = await delivered()
        expect(isSigned(got, rotated.secret)).toBe(true)
        expect(isSigned(got, old)).toBe(false)
        expect(got.headers['webhook-signature']).toBe(standardSignature(got, rotated.secret))
      }
    },
  )

  test(
    'rotated with an overlap signs with both until the next secret takes over, without any timer',
    verifies('rotation.overlap', 'rotation.both-signatures'),
    async ({ app, receiver }) => {
      const { rotate, delivered, secret: old } = await begin(app, receiver)
      const { secret: next, takes_over_at } = await rotate({ overlap_hours: 24 })
      expect(takes_over_at).toBe(new Date(app.clock.now().getTime() + 86_400_000).toISOString())
      app.clock.advance({ hours: 24, milliseconds: -1 })
      const during = await delivered()
      expect(isSigned(during, old)).toBe(true)
      expect(during.headers['webhook-signature']).toBe(
        `${standardSignature(during, old)} ${standardSignature(during, next)}`,
      )
      app.clock.advance({ milliseconds: 1 })
      const after = await delivered()
      expect(isSigned(after, next)).toBe(true)
      expect(after.headers['webhook-signature']).toBe(standardSignature(after, next))
    },
  )

  test('its overlap can be ended at once, and only once', verifies('rotation.finish'), async ({ app, receiver }) => {
    const { caller, stranger, path, rotate, rotated, delivered } = await begin(app, receiver)
    const none = await app.unchanged(() => caller.post(`${path}/finish`))
    expect(none).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    const { secret: next } = await rotate({ overlap_hours: 1 })
    expect(await app.unchanged(() => stranger.post(`${path}/finish`))).toMatchObject({ status: 403 })
    const finished = await caller.post(`${path}/finish`)
    expect(finished.status).toBe(200)
    expect(rotated(finished.body)).toEqual({ secret: next })
    const got = await delivered()
    expect(isSigned(got, next)).toBe(true)
    expect(got.headers['webhook-signature']).toBe(standardSignature(got, next))
    expect(await app.unchanged(() => caller.post(`${path}/finish`))).toMatchObject({ status: 404 })
  })

  test('an overlap that has passed cannot be ended', verifies('rotation.finish'), async ({ app, receiver }) => {
    const { caller, path, rotate } = await begin(app, receiver)
    await rotate({ overlap_hours: 1 })
    app.clock.advance({ hours: 1 })
    expect(await app.unchanged(() => caller.post(`${path}/finish`))).toMatchObject({ status: 404 })
  })

  test(
    'refuses a second overlap during one; without overlap both secrets are replaced',
    verifies('rotation.second-refused'),
    async ({ app, receiver }) => {
      const { caller, path, rotate, delivered, secret: old } = await begin(app, receiver)
      const { secret: next, takes_over_at } = await rotate({ overlap_hours: 1 })
      const second = await app.unchanged(() => caller.post(path, { overlap_hours: 2 }))
      expect(second).toMatchObject({ status: 409, body: { code: 'ROTATION_UNDER_WAY', details: { takes_over_at } } })
      const { secret: replaced } = await rotate()
      const got = await delivered()
      expect(isSigned(got, replaced)).toBe(true)
      expect(got.headers['webhook-signature']).toBe(standardSignature(got, replaced))
      for (const former of [old, next]) expect(isSigned(got, former)).toBe(false)
      // After an overlap another one can begin.
      await rotate({ overlap_hours: 1 })
      app.clock.advance({ hours: 1 })
      expect((await caller.post(path, { overlap_hours: 168 })).status).toBe(200)
    },
  )

  test('accepts an overlap of 1 to 168 whole hours', verifies('rotation.bounds'), async ({ app, receiver }) => {
    const { caller, path } = await begin(app, receiver)
    for (const overlap_hours of [0, 169, 1.5, '24', null]) {
      const refused = await app.unchanged(() => caller.post(path, { overlap_hours }))
      expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(refused.body.details)).toEqual(['overlap_hours'])
    }
    for (const overlap_hours of [1, 168]) {
      expect((await caller.post(path, { overlap_hours })).status).toBe(200)
      await caller.post(`${path}/finish`)
    }
  })

  test(
    'keeps both secrets encrypted, and the old one no longer than needed',
    verifies('rotation.bounds'),
    async ({ app, receiver }) => {
      const { rotate, endpointId, delivered, secret: old } = await begin(app, receiver)
      const { secret: next } = await rotate({ overlap_hours: 1 })
      const stored = () =>
        app.ctx.db.row<{ secret: string; next: string | null }>(sql`
        select secret, next_secret as next from endpoints where id = ${endpointId}`)
      const before = await stored()
      expect(app.ctx.keys.open(before?.secret ?? '', endpointId)).toBe(old)
      expect(app.ctx.keys.open(before?.next ?? '', endpointId)).toBe(next)
      const all = await app.everything()
      for (const secret of [old, next]) expect(all).not.toContain(secret)
      app.clock.advance({ hours: 1 })
      await sweep(app.ctx)
      expect(await stored()).toEqual({ secret: before?.next, next: null })
      expect(isSigned(await delivered(), next)).toBe(true)
    },
  )
})

test(
  'GET secret shows the next one during an overlap only',
  verifies('rotation.overlap'),
  async ({ app, receiver }) => {
    const { owner, path, webhook } = await webhookScene(app, receiver)
    const shown = async () => (await owner.get(`${path}/secret`)).body
    expect(await shown()).toEqual({ secret: webhook.secret })
    const { body } = await owner.post(`${path}/secret`, { overlap_hours: 2 })
    expect(await shown()).toEqual({
      secret: webhook.secret,
      next: { secret: body.secret, takes_over_at: body.takes_over_at },
    })
    app.clock.advance({ hours: 2 })
    expect(await shown()).toEqual({ secret: body.secret })
  },
)

test(
  'a ping is signed with both secrets during an overlap',
  verifies('rotation.both-signatures'),
  async ({ app, receiver }) => {
    const { owner, path, webhook } = await webhookScene(app, receiver)
    const { body } = await owner.post(`${path}/secret`, { overlap_hours: 2 })
    await owner.post(`${path}/test`)
    const got = only(receiver.take())
    expect(isSigned(got, webhook.secret)).toBe(true)
    expect(got.headers['webhook-signature']).toBe(
      `${standardSignature(got, webhook.secret)} ${standardSignature(got, body.secret)}`,
    )
  },
)
