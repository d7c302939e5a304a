import { once } from 'node:events'
import { watch } from 'node:fs'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { temporary } from '../test/baton.ts'
import { watchSources } from './watch.ts'

// Only the pause before a restart: a timer that was not started cannot restart anything.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

async function watched() {
  const directory = await temporary()
  await mkdir(join(directory, 'data'))
  const changed = vi.fn()
  onTestFinished(await watchSources(directory, changed))
  /** Writes a file and waits until all watchers of its directory have been told. */
  const write = async (folder: string, name: string) => {
    const watcher = watch(join(directory, folder))
    const told = once(watcher, 'change')
    await appendFile(join(directory, folder, name), 'more\n')
    await told
    watcher.close()
  }
  return { directory, changed, write }
}

test('a growing log and written data do not restart the agent', async () => {
  const { changed, write } = await watched()
  for (const name of ['dev.log', 'dev.log', 'dev.out', 'notes.txt', 'state.json', '.env.local', '.hidden.js']) {
    await write('', name)
    await write('data', name)
    expect({ name, timers: vi.getTimerCount() }).toEqual({ name, timers: 0 })
  }
  expect(changed).not.toHaveBeenCalled()
})

test('a saved source or configuration restarts it', async () => {
  const { changed, write } = await watched()
  for (const name of ['agent.js', 'agent.mts', 'agent.py', 'settings.yaml', 'package.json', 'manifest.json', '.env']) {
    changed.mockClear()
    await write('', name)
    vi.runAllTimers()
    expect(changed, name).toHaveBeenCalledOnce()
  }
})

test('a new directory is watched, also one that is made again', async () => {
  const { directory, changed } = await watched()
  const lib = join(directory, 'lib')
  for (const _ of ['made', 'made again']) {
    await mkdir(lib)
    await writeFile(join(lib, 'first.js'), '')
    await vi.waitFor(() => expect(changed).toHaveBeenCalled())
    // Nothing of the first file is left to happen.
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
    changed.mockClear()
    await writeFile(join(lib, 'second.js'), '')
    await vi.waitFor(() => expect(changed).toHaveBeenCalled())
    await rm(lib, { recursive: true })
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
    changed.mockClear()
  }
})

test('no change is reported after it was stopped', async () => {
  const directory = await temporary()
  const changed = vi.fn()
  const stop = await watchSources(directory, changed)
  const watcher = watch(directory)
  const told = once(watcher, 'change')
  stop()
  await writeFile(join(directory, 'agent.js'), '')
  await told
  watcher.close()
  expect(vi.getTimerCount()).toBe(0)
  expect(changed).not.toHaveBeenCalled()
})
