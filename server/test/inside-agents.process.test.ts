import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentActivity } from '@baton/protocol'
import { expect, test } from 'vitest'
import { filledDataDir } from './empty-databases.ts'
import { calls, ModelServer, refuses, says, silence } from './model-server.ts'
import { ServiceProcess } from './service-process.ts'

const onPostgres = Boolean(process.env.DATABASE_URL)

test.skipIf(onPostgres)(
  'agents continue their work after the process was killed, and nothing is posted or done twice',
  async () => {
    const dir = await filledDataDir()
    const model = await ModelServer.start()
    // The model refuses the built-in agent, which then works by rules, in a known order.
    const forScribe: Parameters<ModelServer['play']> = []
    model.answer = (response, asked) => {
      const turn = asked.raw.includes('You are Scribe') ? forScribe.shift() : refuses(401)
      turn?.(response, asked)
    }
    // One activity per second, so that the process can be killed during the work.
    const env = {
      BATON_DATA_DIR: dir,
      BATON_SESSION_RATE: '1',
      BATON_MODEL_URL: model.url,
      BATON_MODEL: 'large-1',
    }
    let service = await ServiceProcess.start(env)
    try {
      const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
      const { token } = await service.call('POST', '/auth/sign-up', ann)
      const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization: `Bearer ${token}` })
      const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': id }
      const call = (method: string, path: string, body?: unknown) => service.call(method, path, body, headers)
      const team = await call('POST', '/teams', { name: 'Engineering', key: 'ENG' })
      const scribe = await call('POST', '/agents/personal', { name: 'Scribe', instructions: '' })
      const [, builtIn] = (await call('GET', '/agents?include_deployment=true')).data
      const paths = new Map<string, string>()
      const delegate = async (agent: { id: string }, title: string) => {
        const issue = await call('POST', '/issues', { title, type: 'bug', team_id: team.id, delegate_id: agent.id })
        const [session] = (await call('GET', `/agent-sessions?issue_id=${issue.id}`)).data
        paths.set(agent.id, `/agent-sessions/${session.id}`)
      }
      const readActivities = async (agent: { id: string }): Promise<AgentActivity[]> =>
        (await call('GET', `${paths.get(agent.id)}/activities`)).data
      const until = async (reached: () => Promise<boolean>) => {
        for (let tries = 0; tries < 600 && !(await reached()); tries++) await sleep(50)
      }

      const { turn, asked } = silence()
      const create = calls(['create_issue', { title: 'Part of it', team_id: team.id }])
      forScribe.push(create, turn)
      await delegate(scribe, 'Too big')
      await asked
      await delegate(builtIn, 'It breaks')
      await until(async () => (await readActivities(builtIn)).length > 2)
      const before = [await readActivities(scribe), await readActivities(builtIn)]
      expect(before[1]?.length).toBeLessThan(7)
      await service.kill('SIGKILL')
      forScribe.push(create, says('Done.'))
      service = await ServiceProcess.start(env)
      for (const path of paths.values()) await until(async () => (await call('GET', path)).state === 'complete')
      const after = [await readActivities(scribe), await readActivities(builtIn)]
      for (const [index, activities] of after.entries()) {
        // The avatar_url contains the port of the process.
        const comparable = (list: AgentActivity[] = []) => list.map(({ superseded_by_seq, author, ...rest }) => rest)
        expect(comparable(activities).slice(0, before[index]?.length)).toEqual(comparable(before[index]))
        expect(new Set(activities.map(({ content }) => JSON.stringify(content))).size).toBe(activities.length)
      }
      const types = after.map((activities) => activities.map(({ type }) => type))
      expect(types[0]).toEqual(['thought', 'action', 'action', 'response'])
      expect(types[1]).toEqual(['thought', 'thought', 'action', 'action', 'action', 'action', 'response'])
      const titles = (await call('GET', '/issues')).data.map(({ title }: { title: string }) => title)
      expect(titles).toEqual(['It breaks', 'Part of it', 'Too big'])
    } finally {
      await service.kill('SIGKILL')
      await model.stop()
      rmSync(dir, { recursive: true, force: true })
    }
  },
  120_000,
)
