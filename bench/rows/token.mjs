// Token refresh, 32 at a time, compared with a bare route that looks up, rotates and stores.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { startAgentService } from '../setting.mjs'

const warmUpMs = 6000
const measuredMs = 5000

export const rows = [
  {
    name: 'token endpoint, refresh, 32 connections',
    unit: 'a second',
    better: 'more',
    floorIs: 'a bare Fastify route with one look-up and one transaction',
  },
]

export const ownDatabase = true

export const run = async (where) => [{ floor: await measure('floor', where), ours: await measure('ours', where) }]

async function measure(kind, where) {
  const server = await startAgentService(kind, where)
  const chains = server.agents.flatMap(({ clientId, clientSecret, refreshTokens }) =>
    refreshTokens.map((refreshToken) => ({ clientId, clientSecret, refreshToken })),
  )
  const agent = new Agent({ connections: chains.length })
  let [issued, going] = [0, true]
  const loop = async ({ clientId, clientSecret, refreshToken }) => {
    for (let token = refreshToken; going; issued++) {
      const form = {
        grant_type: 'refresh_token',
        client_id: clientId,
        client_secret: clientSecret,
        refresh_token: token,
      }
      const answer = await agent.request({
        origin: server.url,
        path: '/api/v1/oauth/token',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      })
      const body = await answer.body.json()
      if (answer.statusCode !== 200) throw new Error(JSON.stringify(body))
      token = body.refresh_token
    }
  }
  const loops = chains.map(loop)
  await sleep(warmUpMs)
  const [before, started] = [issued, performance.now()]
  await sleep(measuredMs)
  const perSecond = (issued - before) / ((performance.now() - started) / 1000)
  going = false
  await Promise.all(loops)
  await agent.close()
  await server.stop()
  return perSecond
}
