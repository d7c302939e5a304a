// What a call takes when a million activities are there, against ten thousand.
import { Agent } from 'undici'
import { percentile, startActivityServer } from './setting.mjs'

const few = 10_000
const many = 1_000_000
const calls = 400

const row = (name, call) => ({
  name: `${name} at 1,000,000 activities`,
  unit: 'ms',
  better: 'less',
  target: 1.3,
  ownDatabase: true,
  async run(where) {
    const server = await startActivityServer('ours', where)
    const agent = new Agent({ connections: 1 })
    try {
      await server.seed(few)
      const floor = await median(agent, server, call)
      await server.seed(many - few)
      return { floor, ours: await median(agent, server, call) }
    } finally {
      await agent.close()
      await server.stop()
    }
  },
})

const post = ({ sessionIds }, n) => ({
  method: 'POST',
  path: `/agent-sessions/${sessionIds[n % sessionIds.length]}/activities`,
  body: JSON.stringify({ content: { type: 'thought', body: 'Another thought' } }),
})
const readTail = ({ sessionIds }, n) => ({
  method: 'GET',
  path: `/agent-sessions/${sessionIds[n % sessionIds.length]}/activities?after_seq=10`,
})
const list = (_, n) => ({ method: 'GET', path: `/agent-sessions?limit=${50 - (n % 2)}` })

export const rows = [row('POST activity', post), row('activities, a page', readTail), row('sessions, a page', list)]

/** One call after another, so that what is measured is the call and not the queue. */
async function median(agent, server, call) {
  const times = []
  for (let n = 0; n < calls * 1.5; n++) {
    const one = server.agents[n % server.agents.length]
    const { method, path, body } = call(one, n)
    const headers = {
      authorization: `Bearer ${one.token}`,
      'x-workspace-id': one.workspaceId,
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const started = performance.now()
    const answer = await agent.request({ origin: server.url, path: `/api/v1${path}`, method, headers, body })
    await answer.body.dump()
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode}`)
    // The first third warms up.
    if (n >= calls / 2) times.push(performance.now() - started)
  }
  return percentile(times, 0.5)
}
