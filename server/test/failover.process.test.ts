import { randomBytes } from 'node:crypto'
import type { RelayedAttempt } from '@baton/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifiesOnPostgres } from '../../conformance/requirements.ts'
import { callerAt, install, newcomer, type Outsider } from './outside.ts'
import { Replicas, withHosts } from './replicas.ts'
import { ServiceProcess } from './service-process.ts'
import { type StreamEvent, Watch } from './watch.ts'

const callsPerMinute = 40

// The second test begins after the failover of the first.
describe.skipIf(!process.env.DATABASE_URL)('two nodes on two database hosts', { timeout: 90_000 }, () => {
  let replicas: Replicas
  let nodes: [ServiceProcess, ServiceProcess]
  let ada: Awaited<ReturnType<typeof newcomer>>
  let robot: Awaited<ReturnType<typeof install>>
  let at: [Outsider, Outsider]
  let waiting: RelayedAttempt
  const listen = () =>
    Watch.open({ rootUrl: nodes[0].url, path: `/agent-apps/${robot.appId}/listen`, headers: ada.headers })

  beforeAll(async () => {
    replicas = await Replicas.start()
    const env = {
      DATABASE_URL: withHosts(replicas.standby.url, replicas.primary.url),
      BATON_SECRET_KEY: randomBytes(32).toString('base64'),
      BATON_API_RATE: String(callsPerMinute),
    }
    nodes = await Promise.all([ServiceProcess.start(env), ServiceProcess.start(env)])
    ada = await newcomer(nodes[0].url)
    at = [callerAt(nodes[0].url, ada.headers), callerAt(nodes[1].url, ada.headers)]
    robot = await install(nodes[0].url, ada.person, 'https://listen.invalid/')
  }, 90_000)
  afterAll(async () => {
    await Promise.all((nodes ?? []).map((node) => node.kill('SIGKILL')))
    await replicas?.stop()
  })

  const errors = () => nodes.flatMap(({ output }) => output.split('\n').filter((line) => line.includes('"level":50')))
  const createIssue = (caller: Outsider, title: string, fields = {}) =>
    caller('POST', '/issues', { title, team_id: ada.teamId, ...fields })

  test(
    'refuse with 503 while no host is a primary, and follow the promoted one',
    verifiesOnPostgres('ha.no-primary-503', 'ha.live-follows'),
    async () => {
      const watch = await Watch.open({ rootUrl: nodes[0].url, headers: ada.headers })
      expect((await watch.next()) as StreamEvent).toMatchObject({ event: 'ready' })
      const listener = await listen()
      expect((await createIssue(ada.person, 'Relayed', { delegate_id: robot.appUserId })).status).toBe(201)
      waiting = await nextAttempt(listener)
      const used = await Promise.all(
        Array.from({ length: callsPerMinute + 5 }, () => robot.app('GET', '/issues?limit=1')),
      )
      expect(used.some(({ status }) => status === 429)).toBe(true)

      await replicas.primary.stop('fast')
      for (const [index, { url }] of nodes.entries()) {
        await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 15_000 }).toBe(503)
        for (let tries = 0; tries < 3; tries++) {
          const refused = await createIssue(at[index] as Outsider, 'Refused')
          expect(refused).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
        }
        expect((await at[index]?.('GET', '/issues'))?.status).toBe(503)
      }
      expect(nodes.map(({ child }) => child.exitCode)).toEqual([null, null])

      await replicas.standby.promote()
      for (const { url } of nodes) {
        await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 15_000 }).toBe(200)
      }
      await until(watch, (received) => 'event' in received && received.event === 'resync')
      const created = await createIssue(at[1], 'Made on the other node')
      const acknowledgedAt = performance.now()
      expect(created.status).toBe(201)
      await until(watch, (received) => JSON.stringify(received).includes(created.body.id))
      expect(performance.now() - acknowledgedAt).toBeLessThan(5000)
      const { data } = (await ada.person('GET', '/issues')).body
      expect(data.map(({ title }: { title: string }) => title).sort()).toEqual(['Made on the other node', 'Relayed'])
    },
  )

  test(
    'work with the empty tables of rates and relayed attempts',
    verifiesOnPostgres('ha.unlogged-empty'),
    async () => {
      // A delivery in progress was logged as failed while there was no primary.
      const before = errors().length
      // Its row was lost with the primary, so its answer is refused; limits begin anew.
      const answered = await ada.person('POST', `/agent-apps/${robot.appId}/listen/${waiting.attempt_id}`, {
        status: 200,
      })
      expect(answered.status).toBe(404)
      expect((await robot.app('GET', '/issues?limit=1')).status).toBe(200)
      const listener = await listen()
      expect((await createIssue(ada.person, 'Again', { delegate_id: robot.appUserId })).status).toBe(201)
      const { attempt_id } = await nextAttempt(listener)
      const path = `/agent-apps/${robot.appId}/listen/${attempt_id}`
      expect((await ada.person('POST', path, { status: 200 })).status).toBe(204)
      expect(errors().slice(before)).toEqual([])
    },
  )
})

async function until(watch: Watch, isIt: (received: StreamEvent) => boolean): Promise<StreamEvent> {
  for (;;) {
    const received = await watch.next()
    if (!received) throw new Error('the stream has ended')
    if (isIt(received)) return received
  }
}

const nextAttempt = async (listener: Watch) =>
  (
    (await until(listener, (received) => 'event' in received && received.event === 'attempt')) as {
      data: RelayedAttempt
    }
  ).data
