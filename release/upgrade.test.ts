import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { withEmptyDatabase } from '../server/test/empty-databases.ts'
import { Load } from '../server/test/load.ts'
import { install, type Json, newcomer, type Outsider } from '../server/test/outside.ts'
import { Receiver } from '../server/test/receiver.ts'
import { RoundRobin } from '../server/test/round-robin.ts'
import { freePort, ServiceProcess } from '../server/test/service-process.ts'

const previous = process.env.BATON_TEST_UPGRADE_FROM as string
const count = 3
const callsBetween = 60

describe('three nodes of the last release', () => {
  test(
    'are replaced one by one by this version, and back, under load',
    { timeout: 540_000, ...verifies('ha.rolling-upgrade') },
    () => withEmptyDatabase(replaceAll),
  )
})

async function replaceAll(databaseUrl: string) {
  const proxy = await RoundRobin.start()
  const receiver = await Receiver.start()
  const env = {
    DATABASE_URL: databaseUrl,
    BATON_SECRET_KEY: randomBytes(32).toString('base64'),
    BATON_ROOT_URL: proxy.url,
    BATON_WEBHOOK_ALLOW: 'localhost',
    BATON_STOP_DELAY: '2',
    BATON_API_RATE: '1000000',
    BATON_INSTALLATION_RATE: '1000000',
  }
  const nodes: ServiceProcess[] = []
  const begin = async (port: number, program?: string) => {
    const node = new ServiceProcess(port, env, program)
    await node.ready()
    return node
  }
  try {
    for (let number = 0; number < count; number++) nodes.push(await begin(await freePort(), previous))
    for (const { url } of nodes) await proxy.add(url)
    const { person, teamId } = await newcomer(proxy.url)
    const webhook = { label: 'All', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
    expect((await person('POST', '/webhooks', webhook)).status).toBe(201)
    const { app } = await install(proxy.url, person, 'https://listen.invalid/')
    const load = new Load(person, teamId, app)
    await load.until(callsBetween)
    for (const program of [undefined, previous]) {
      for (const [index, node] of nodes.entries()) {
        expect(await node.kill('SIGTERM'), node.output).toBe(0)
        nodes[index] = await begin(Number(new URL(node.url).port), program)
        await proxy.until(() => proxy.ready.length === count)
        await load.until(callsBetween)
        expect([...load.failures]).toEqual([])
      }
    }
    await load.stop()
    expect([...load.failures]).toEqual([])
    const kept = new Set((await listAll(person)).map(({ id }) => id))
    expect(load.issueIds.filter((id) => !kept.has(id))).toEqual([])
    await expect.poll(() => created(receiver).length, { timeout: 30_000 }).toBeGreaterThanOrEqual(load.issueIds.length)
    expect([...new Set(created(receiver))].sort()).toEqual(load.issueIds.sort())
  } finally {
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')))
    proxy.stop()
    await receiver.stop()
  }
}

const created = ({ received }: Receiver) =>
  received.filter(({ body }) => body.action === 'create').map(({ body }) => (body as Json).data.id as string)

async function listAll(person: Outsider): Promise<Json[]> {
  const all: Json[] = []
  for (let cursor = ''; cursor !== null; ) {
    const page = (await person('GET', `/issues?limit=100${cursor && `&cursor=${cursor}`}`)).body
    all.push(...page.data)
    cursor = page.next_cursor
  }
  return all
}
