import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Not the agent's code: what is installed, what is hidden, and the tokens, which change by themselves. */
const isSource = (name: string) => name === '.env' || !/^(\.|node_modules$|tokens$)|^\.env\./.test(name)

/** An editor writes a file in several steps, and several files at once. */
const restMs = 150

/** Calls `changed` after something in the directory has been saved. The answer ends it. */
export async function watchSources(directory: string, changed: () => void): Promise<() => void> {
  const watchers = new Map<string, FSWatcher>()
  let rest: NodeJS.Timeout | undefined
  const look = async () => {
    for (const path of await directoriesIn(directory)) {
      if (watchers.has(path)) continue
      const watcher = watch(path, (_event, name) => {
        if (name !== null && !isSource(name)) return
        clearTimeout(rest)
        rest = setTimeout(() => {
          // What cannot be watched, such as a directory that is gone again, is no reason to end.
          look().catch(() => {})
          changed()
        }, restMs)
      })
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(path)
      })
      watchers.set(path, watcher)
    }
  }
  await look()
  return () => {
    clearTimeout(rest)
    for (const watcher of watchers.values()) watcher.close()
  }
}

async function directoriesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const inside = entries.filter((entry) => entry.isDirectory() && isSource(entry.name))
  const deeper = await Promise.all(inside.map(({ name }) => directoriesIn(join(directory, name))))
  return [directory, ...deeper.flat()]
}
