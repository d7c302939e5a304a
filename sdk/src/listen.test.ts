import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished } from 'vitest'
import { sql } from '../../server/src/db/sql.ts'
import { type TestApp, test, verifies } from '../../server/test/harness.ts'
import { Listener } from '../../server/test/listener.ts'
import { credentials, delegated, installed, registered } from '../test/scene.ts'
import { type AgentOptions, createAgent, type ListenEnd, type ListenOptions } from './agent.ts'
import { isBatonError } from './errors.ts'
import { memoryTokens } from './tokens.ts'

const listenUrl = 'https://listen.invalid/'

/** An agent without a URL that listens until the test ends. */
async function listening(app: TestApp, { url = listenUrl, ...change }: Partial<AgentOptions> & { url?: string } = {}) {
  const at = await registered(app, url)
  const here = await installed(app, at)
  const errors: unknown[] = []
  const agent = createAgent({
    baseUrl: app.rootUrl,
    webhookSecret: at.client.webhook_secret,
    tokens: here.tokens,
    clock: app.clock,
    onCreated: (_, event) => `Read ${event.data.agent_session.issue?.title}.`,
    onError: (error) => void errors.push(error),
    ...change,
  })
  const controller = new AbortController()
  const log: string[] = []
  const begin = async (options: ListenOptions = {}) => {
    let ended: Promise<ListenEnd> | undefined
    await new Promise<void>((resolve, reject) => {
      ended = agent.listen({
        signal: controller.signal,
        onReady: () => {
          log.push('ready')
          resolve()
        },
        onLost: (why) => void log.push(why),
        ...options,
      })
      ended.then(() => resolve(), reject)
      onTestFinished(async () => {
        controller.abort()
        await ended?.catch(() => {})
        await waitForNoListener()
      })
    })
    return { ended: ended as Promise<ListenEnd> }
  }
  const connection = async () =>
    (
      await app.ctx.db.row<{ id: string }>(sql`
      select connection_id as id from listeners where app_id = ${at.client.app.id}`)
    )?.id
  const waitForNoListener = async () => {
    while (await connection()) await setImmediate()
  }
  /** Delegates an issue; resolves with the attempts of its delivery and the agent's answer. */
  const work = async (title: string) => {
    const { sessionId } = await delegated(at, here.agentUserId, title)
    await app.deliver()
    await agent.settled()
    const { data } = (await at.owner.get(`/agent-apps/${at.client.app.id}/deliveries?agent_session_id=${sessionId}`))
      .body
    const activities = (await at.owner.get(`/agent-sessions/${sessionId}/activities`)).body.data
    const attempts = data.flatMap((delivery: { attempts: { http_status: number }[] }) => delivery.attempts)
    return {
      statuses: attempts.map(({ http_status }: { http_status: number }) => http_status),
      said: activities.map(({ content }: { content: { body: string } }) => content.body),
    }
  }
  return { ...at, ...here, agent, controller, begin, connection, log, errors, work }
}

describe('agent.listen', () => {
  test('receives deliveries without a URL, until it is aborted', async ({ app }) => {
    const { begin, work, controller, errors } = await listening(app)
    const { ended } = await begin()
    expect(await work('One')).toEqual({ statuses: [200], said: ['Read One.'] })
    controller.abort()
    expect(await ended).toEqual({ end: 'aborted' })
    expect(errors).toEqual([])
    expect(await (await begin()).ended).toEqual({ end: 'aborted' })
  })

  test('begins with what it missed', async ({ app }) => {
    const { begin, work, agent, owner, client } = await listening(app)
    expect(await work('Missed')).toMatchObject({ said: [] })
    app.clock.advance({ seconds: 1 })
    await begin()
    await app.deliver()
    await agent.settled()
    const { data } = (await owner.get(`/agent-apps/${client.app.id}/deliveries`)).body
    expect(data).toMatchObject([{ status: 'succeeded' }])
  })

  test(
    'opens the next stream before its access token expires, and loses no delivery',
    verifies('run.listen-renewed-without-gap'),
    async ({ app }) => {
      const { begin, work, connection, log } = await listening(app)
      await begin()
      let before = await connection()
      // Twice, so that also the stream of a refreshed token is renewed.
      for (const [round, minutes] of [
        [1, 59],
        [2, 57.5],
      ]) {
        expect(await work(`Before ${round}`)).toMatchObject({ statuses: [200] })
        app.clock.advance({ minutes: minutes as number })
        while ((await connection()) === before) await setImmediate()
        before = await connection()
        expect(before).toBeDefined()
        expect(await work(`After ${round}`)).toMatchObject({ statuses: [200] })
        // The old token has expired.
        app.clock.advance({ seconds: 90 })
        expect(await work(`Later ${round}`)).toMatchObject({ statuses: [200] })
      }
      expect(log).toEqual(['ready'])
    },
  )

  test('ends when another listener replaces it', async ({ app }) => {
    const { begin, owner, client } = await listening(app)
    const { ended } = await begin()
    const other = await Listener.of(owner, client.app.id)
    expect(await ended).toEqual({ end: 'replaced', by: { id: owner.user.id, name: owner.user.display_name } })
    other.close()
  })

  test('ends when the app is uninstalled', async ({ app }) => {
    const { begin, owner, installationId } = await listening(app)
    const { ended } = await begin()
    await owner.delete(`/installations/${installationId}`)
    expect(await ended).toEqual({ end: 'ended' })
  })

  test('rejects if the service refuses', async ({ app }) => {
    const { agent } = await listening(app, { url: 'http://localhost:9/hook' })
    const refused = await agent.listen().catch((error) => error)
    expect(isBatonError(refused, 'FORBIDDEN')).toBe(true)
  })

  test('connects again after a failure', async ({ app }) => {
    let failures = 2
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (String(input).includes('/listen?') && failures-- > 0) throw new TypeError('fetch failed')
      return globalThis.fetch(input, init)
    }
    const { begin, work, log } = await listening(app, { fetch })
    const begun = begin()
    for (const losses of [1, 2]) {
      while (log.length < losses) await setImmediate()
      app.clock.advance({ seconds: 1 })
    }
    await begun
    expect(log).toEqual([...Array(2).fill('The service could not be reached.'), 'ready'])
    expect(await work('One')).toMatchObject({ statuses: [200] })
  })

  test('needs to know the installation', async ({ app }) => {
    const { client } = await registered(app, listenUrl)
    const agent = createAgent({
      ...credentials(app, { client }),
      webhookSecret: client.webhook_secret,
      store: memoryTokens(),
      onCreated: () => {},
    })
    await expect(agent.listen()).rejects.toThrow('agent.listen needs installationId')
    await expect(agent.listen({ installationId: 'ins_none' })).rejects.toMatchObject({ code: 'REINSTALL_NEEDED' })
  })
})
