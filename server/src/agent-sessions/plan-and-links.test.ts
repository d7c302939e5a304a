import { describe, expect } from 'vitest'
import { bringTo, invalid, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies } from '../../test/harness.ts'

const item = { content: 'Look', status: 'pending' }
const items = (count: number) => Array.from({ length: count }, (_, index) => ({ ...item, content: `Step ${index}` }))
const link = (index: number | string, label = `Link ${index}`) => ({ label, url: `https://example.com/${index}` })
const links = (count: number, from = 0) => Array.from({ length: count }, (_, index) => link(from + index))

describe('a plan', () => {
  test(
    'is replaced as a whole',
    verifies(
      'plan.patch-replaces-whole',
      'plan.item-count',
      'plan.status-values',
      'plan.content-length',
      'plan.keeps-state',
    ),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const session = await delegated()
      const plans = [
        ['pending', 'inProgress', 'completed', 'canceled'].map((status) => ({ content: status, status })),
        [item, item],
        items(50),
        [{ content: 'é'.repeat(500), status: 'completed' }],
        [],
      ]
      for (const plan of plans) {
        app.clock.advance({ seconds: 1 })
        const { status, body } = await robot.patch(session.path, { plan })
        expect({ status, plan: body.plan, state: body.state }).toEqual({ status: 200, plan, state: 'pending' })
        expect(body.updated_at).toBe(app.clock.now().toISOString())
        expect(await session.get()).toEqual(body)
      }
    },
  )

  test('does not change the state, in any state', verifies('plan.keeps-state'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    for (const state of ['active', 'awaitingInput', 'complete', 'error', 'stopping', 'stale'] as const) {
      const session = await delegated()
      await bringTo(app, session, state)
      const { body } = await session.change({ plan: [item] })
      expect(body).toMatchObject({ state, plan: [item] })
      expect(await session.get()).toEqual(body)
    }
  })

  test(
    'with an invalid shape is refused',
    verifies('plan.item-count', 'plan.content-length', 'plan.status-values', 'plan.item-shape'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await session.change({ plan: [item] })
      const bad: Record<string, unknown> = {
        'too many': items(51),
        'too long': [{ ...item, content: 'é'.repeat(501) }],
        'another status': [{ ...item, status: 'in_progress' }],
        'a status in capitals': [{ ...item, status: 'Pending' }],
        'no content': [{ status: 'pending' }],
        'no status': [{ content: 'Look' }],
        'another key': [{ ...item, id: 1 }],
        'content that is no text': [{ ...item, content: 7 }],
        'text alone': ['Look'],
        'one item': item,
        null: null,
      }
      await app.unchanged(async () => {
        for (const [what, plan] of Object.entries(bad))
          expect(await session.change({ plan }), what).toMatchObject(invalid)
      })
    },
  )
})

describe('links', () => {
  test(
    'are replaced, added and removed',
    verifies(
      'external-url.replace-list',
      'external-url.add',
      'external-url.remove',
      'external-url.added-existing-replaces-label',
      'external-url.remove-missing-is-ok',
      'external-url.label-length',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      const [a, b, c] = [link('a'), link('b'), link('c')]
      const relabelled = link('b', 'é'.repeat(60))
      const steps: [Record<string, unknown>, object[]][] = [
        [{ external_urls: [a, b] }, [a, b]],
        [{ external_urls: [b] }, [b]],
        [{ added_external_urls: [a] }, [b, a]],
        [{ added_external_urls: [relabelled, c] }, [relabelled, a, c]],
        [{ removed_external_urls: [a.url] }, [relabelled, c]],
        [{ removed_external_urls: [c.url, b.url], added_external_urls: [a] }, [a]],
        [{ plan: [item], added_external_urls: [b] }, [a, b]],
        [{ plan: [] }, [a, b]],
        [{ external_urls: [] }, []],
      ]
      for (const [change, external_urls] of steps) {
        const { status, body } = await session.change(change)
        expect({ status, external_urls: body.external_urls }, JSON.stringify(change)).toEqual({
          status: 200,
          external_urls,
        })
        expect(await session.get()).toEqual(body)
        expect(body.state).toBe('pending')
      }
    },
  )

  test(
    'that are not in the list can be removed without an error',
    verifies('external-url.remove-missing-is-ok'),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await session.change({ external_urls: links(2) })
      const before = await session.get()
      app.clock.advance({ seconds: 5 })
      for (const change of [{ removed_external_urls: ['https://example.com/9'] }, { removed_external_urls: [] }, {}]) {
        const { status, body } = await app.unchanged(() => session.change(change))
        expect({ status, body }).toEqual({ status: 200, body: before })
      }
    },
  )

  test('are limited to ten', verifies('external-url.max-10-replace', 'external-url.max-10-added'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    expect(await app.unchanged(() => session.change({ external_urls: links(11) }))).toMatchObject(invalid)
    expect((await session.change({ external_urls: links(10) })).body.external_urls).toHaveLength(10)
    const eleventh = await app.unchanged(() => session.change({ added_external_urls: [link('x')] }))
    expect(eleventh).toMatchObject(refusal(422, 'VALIDATION_ERROR', { added_external_urls: expect.any(String) }))
    expect((await session.change({ added_external_urls: [link(3, 'Again')] })).status).toBe(200)
    const swapped = { added_external_urls: [link('x')], removed_external_urls: [link(0).url] }
    expect((await session.change(swapped)).body.external_urls).toHaveLength(10)
    await session.change({ external_urls: links(8) })
    expect(await app.unchanged(() => session.change({ added_external_urls: links(3, 8) }))).toMatchObject(invalid)
    expect((await session.change({ added_external_urls: links(2, 8) })).body.external_urls).toEqual(links(10))
    // A valid plan in the same request is not stored either.
    const both = { plan: [item], added_external_urls: [link('x')] }
    expect(await app.unchanged(() => session.change(both))).toMatchObject(invalid)
  })

  test(
    'with an invalid shape are refused',
    verifies(
      'external-url.not-both',
      'external-url.https-only',
      'external-url.unique-in-list',
      'external-url.label-length',
      'external-url.item-shape',
    ),
    async ({ app }) => {
      const { delegated } = await sessionScene(app)
      const session = await delegated()
      await session.change({ external_urls: links(1) })
      const bad: Record<string, unknown> = {
        http: { label: 'Change', url: 'http://example.com' },
        ftp: { label: 'Change', url: 'ftp://example.com' },
        script: { label: 'Change', url: 'javascript:alert(1)//https://example.com' },
        relative: { label: 'Change', url: '/pull/1' },
        'no host': { label: 'Change', url: 'https://' },
        'a space': { label: 'Change', url: 'https://example.com/a b' },
        'too long a label': link('x', 'é'.repeat(61)),
        'no label': { url: 'https://example.com' },
        'no url': { label: 'Change' },
        'another key': { ...link('x'), kind: 'pull' },
        'a label that is no text': { ...link('x'), label: 7 },
        'text alone': 'https://example.com',
      }
      const both: Record<string, unknown>[] = [
        { external_urls: [], added_external_urls: [link('x')] },
        { external_urls: [link('x')], removed_external_urls: [link(0).url] },
        { external_urls: [link('x')], added_external_urls: [], removed_external_urls: [] },
        { external_urls: [link('x'), link('y'), link('x', 'Again')] },
        { added_external_urls: [link('x'), link('x', 'Again')] },
        { removed_external_urls: [link('x')] },
        { external_url: [] },
        { external_urls: null },
      ]
      const changes = [
        ...both,
        ...Object.values(bad).flatMap((one) => [{ external_urls: [one] }, { added_external_urls: [one] }]),
      ]
      await app.unchanged(async () => {
        for (const change of changes) {
          expect(await session.change(change), JSON.stringify(change)).toMatchObject(invalid)
        }
      })
    },
  )

  test('added by concurrent requests are all stored', verifies('external-url.add'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    await Promise.all(links(10).map((one) => session.change({ added_external_urls: [one] })))
    const { external_urls } = await session.get()
    expect(external_urls.map(({ url }) => url).sort()).toEqual(links(10).map(({ url }) => url))
  })
})

test('only the app can change plan and links', async ({ app }) => {
  const { delegated, member } = await sessionScene(app)
  const { path } = await delegated()
  expect((await app.unchanged(() => member.patch(path, { plan: [item] }))).status).toBe(403)
})
