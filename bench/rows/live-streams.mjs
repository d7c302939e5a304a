// A thousand live streams: time until a change reaches all of them, and their memory, compared with a bare server that
// stores a line and writes it to as many streams.
import { once as happened } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentOf, openSetting, percentile, seedPeople, serviceProgram, startProgram } from '../setting.mjs'

const people = 20
const streamsEach = 50
const changes = 40

export const rows = [
  {
    name: 'a change reaches all of 1,000 live streams, p50',
    unit: 'ms',
    better: 'less',
    floorIs: 'a bare server that stores a line and writes it to as many streams',
  },
  { name: 'memory of 1,000 live streams', unit: 'MB', better: 'less', floorIs: 'the bare server' },
]

export const ownDatabase = true

export async function run(where) {
  const setting = await openSetting(where)
  const { workspaceId, tokens } = await seedPeople(setting, people)
  await setting.db.close()
  const env = environmentOf(where)
  const authorised = (token) => ({ authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId })
  const ours = await measure(serviceProgram, env, {
    watch: (index) => ['/api/v1/live', authorised(tokens[index % people])],
    change: (n) => ['/api/v1/issues', authorised(tokens[0]), { title: `Change ${n}`, personal: false }],
  })
  const floor = await measure(new URL('../bare-service.mjs', import.meta.url), env, {
    watch: () => ['/live', {}],
    change: (n) => ['/posts', {}, { type: 'Issue', action: 'create', id: `iss_${n}`, at: new Date() }],
  })
  return [
    { ours: ours.ms, floor: floor.ms },
    { ours: ours.memory, floor: floor.memory },
  ]
}

async function measure(program, env, { watch, change }) {
  const service = await startProgram(program, env)
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  let waiting = new Set()
  let reached = () => {}
  const open = async (index) => {
    const [path, headers] = watch(index)
    const [response] = await happened(get(service.url + path, { agent, headers }), 'response')
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
    response.setEncoding('utf8').on('data', (text) => {
      if (text.includes('data:') && waiting.delete(index) && waiting.size === 0) reached()
    })
    response.on('error', () => {}) // the service ends before its streams do
  }
  const before = service.memory()
  const all = Array.from({ length: people * streamsEach }, (_, index) => index)
  for (const index of all) await open(index)
  const took = []
  for (let n = 0; n < changes; n++) {
    await sleep(50)
    waiting = new Set(all)
    const reachedAll = new Promise((resolve) => {
      reached = resolve
    })
    const started = performance.now()
    const [path, headers, body] = change(n)
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    await reachedAll
    took.push(performance.now() - started)
  }
  const memory = service.memory() - before
  await service.stop()
  agent.destroy()
  return { ms: percentile(took, 0.5), memory }
}
