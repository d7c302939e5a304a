// POST activity over 32 connections, compared with a bare route that only stores.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { startAgentService } from '../setting.mjs'

const connections = 32
/** Not measured: until the engine has optimised the hot code. */
const warmUpMs = 6000
const measuredMs = 6000

export const rows = [
  {
    name: 'POST activity, 32 connections',
    unit: 'a second',
    better: 'more',
    target: 0.75,
    floorIs: 'a bare Fastify route with one look-up and one transaction',
  },
  { name: 'memory under that load', unit: 'MB', better: 'less', floorIs: 'the bare route' },
]

export const ownDatabase = true

export async function run(where) {
  const floor = await measure('floor', where)
  const ours = await measure('ours', where)
  return [
    { ours: ours.perSecond, floor: floor.perSecond },
    { ours: ours.memory, floor: floor.memory },
  ]
}

async function measure(kind, where) {
  const server = await startAgentService(kind, where)
  const agent = new Agent({ connections })
  const body = JSON.stringify({ content: { type: 'thought', body: 'Reading what was changed last week. '.repeat(6) } })
  let [stored, going, turn] = [0, true, 0]
  const loop = async () => {
    while (going) {
      const one = turn++
      const { token, workspaceId, sessionIds } = server.agents[one % server.agents.length]
      const path = `/api/v1/agent-sessions/${sessionIds[Math.floor(one / server.agents.length) % sessionIds.length]}/activities`
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspaceId,
      }
      const answer = await agent.request({ origin: server.url, path, method: 'POST', headers, body })
      const text = await answer.body.text()
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`)
      stored++
    }
  }
  const loops = Array.from({ length: connections }, loop)
  await sleep(warmUpMs)
  const [before, started] = [stored, performance.now()]
  await sleep(measuredMs)
  const perSecond = (stored - before) / ((performance.now() - started) / 1000)
  const memory = server.memory()
  going = false
  await Promise.all(loops)
  await agent.close()
  await server.stop()
  return { perSecond, memory }
}
