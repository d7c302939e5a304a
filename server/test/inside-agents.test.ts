import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentActivity } from '@baton/protocol'
import { expect, test } from 'vitest'
import { filledDataDir, ServiceProcess } from './process.ts'

const onPostgres = Boolean(process.env.DATABASE_URL)

test.skipIf(onPostgres)(
  'a process killed in the middle of a look goes on after it, and says nothing twice',
  async () => {
    const dir = await filledDataDir()
    // Two activities a second, so that there is a middle.
    const env = { BATON_DATA_DIR: dir, BATON_SESSION_RATE: '2' }
    let service = await ServiceProcess.start(env)
    try {
      const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
      const { token } = await service.call('POST', '/auth/sign-up', ann)
      const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization: `Bearer ${token}` })
      const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': id }
      const call = (method: string, path: string, body?: unknown) => service.call(method, path, body, headers)
      const [agent] = (await call('GET', '/agents?include_deployment=true')).data
      await call('POST', '/issues', { title: 'It breaks', type: 'bug', delegate_id: agent.id })
      const [session] = (await call('GET', '/agent-sessions')).data
      const path = `/agent-sessions/${session.id}`
      const said = async (): Promise<AgentActivity[]> => (await call('GET', `${path}/activities`)).data
      const until = async (reached: () => Promise<boolean>) => {
        for (let tries = 0; tries < 600 && !(await reached()); tries++) await sleep(50)
      }
      await until(async () => (await said()).length > 0)
      const before = await said()
      expect(before.length).toBeLessThan(5)
      await service.kill('SIGKILL')
      service = await ServiceProcess.start(env)
      await until(async () => (await call('GET', path)).state === 'complete')
      const after = await said()
      expect(after.slice(0, before.length)).toEqual(before)
      expect(after.map(({ type }) => type)).toEqual(['action', 'action', 'action', 'action', 'response'])
      expect(new Set(after.map(({ content }) => JSON.stringify(content))).size).toBe(5)
    } finally {
      await service.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    }
  },
  60_000,
)
