import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { filledDataDir } from './empty-databases.ts'
import { verifies } from './harness.ts'
import { linearCsv, linearRow } from './import-files.ts'
import { ServiceProcess } from './service-process.ts'

const rows = process.env.BATON_LONG ? 6000 : 2500

test('an import survives kill -9, and every row exists once', {
  timeout: 240_000,
  ...verifies('import.crash-resumes'),
}, async () => {
  const dir = await filledDataDir()
  const env = { BATON_DATA_DIR: dir }
  let service = await ServiceProcess.start(env)
  try {
    let headers: Record<string, string> = {}
    const call = (method: string, path: string, body?: unknown) => service.call(method, path, body, headers)
    const { token } = await call('POST', '/auth/sign-up', {
      email: 'ann@example.com',
      password: 'a password',
      name: 'Ann',
    })
    headers = { authorization: `Bearer ${token}` }
    const { id: workspace } = await call('POST', '/workspaces', { name: 'Acme' })
    headers = { ...headers, 'x-workspace-id': workspace }
    const { id } = await call('POST', '/imports', { source: 'linear' })
    const body = linearCsv(Array.from({ length: rows }, () => linearRow({ Labels: 'red' })))
    const added = await fetch(`${service.url}/api/v1/imports/${id}/files?name=a.csv`, { method: 'POST', headers, body })
    expect(added.status).toBe(201)
    const until = async (isReached: (one: { state: string; phase: string; done: number }) => boolean) => {
      for (;;) {
        const one = await call('GET', `/imports/${id}`)
        if (isReached(one)) return one
        expect(one.state).not.toBe('failed')
        await sleep(50)
      }
    }
    await call('POST', `/imports/${id}/read`)
    await until(({ state }) => state === 'ready')
    await call('POST', `/imports/${id}/start`)
    const before = await until(({ state, phase, done }) => state === 'done' || (phase === 'issues' && done >= 500))
    expect(before.state).toBe('running')
    await service.kill('SIGKILL')
    service = await ServiceProcess.start(env)
    const done = await until(({ state }) => state === 'done')
    expect(done.counts.issues).toEqual({ created: rows, updated: 0, unchanged: 0, skipped: 0 })
    const titles = new Set<string>()
    let count = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { data: { title: string }[]; next_cursor: string | null } = await call(
        'GET',
        `/issues?limit=100${cursor && `&cursor=${cursor}`}`,
      )
      for (const { title } of page.data) titles.add(title)
      count += page.data.length
      cursor = page.next_cursor
    }
    expect([count, titles.size]).toEqual([rows, rows])
  } finally {
    await service.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
})
