import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Ignores dependencies, hidden files and the tokens, which the agent itself changes. */
const isSource = (name: string) => name === '.env' || !/^(\.|node_modules$|tokens$)|^\.env\./.test(name)

/** Editors write a file in several steps, and several files at once. */
const debounceMs = 150

/** Calls `changed` after a file in the directory was saved. Returns a function that stops watching. */
export async function watchSources(directory: string, changed: () => void): Promise<() => void> {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const watchDirectories = async () => {
    for (const path of await directoriesIn(directory)) {
      if (watchers.has(path)) continue
      const watcher = watch(path, (_event, name) => {
        if (name !== null && !isSource(name)) return
        clearTimeout(timer)
        timer = setTimeout(() => {
          // A directory may have been deleted in the meantime.
          watchDirectories().catch(() => {})
          changed()
        }, debounceMs)
      })
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(path)
      })
      watchers.set(path, watcher)
    }
  }
  await watchDirectories()
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
  }
}

async function directoriesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const inside = entries.filter((entry) => entry.isDirectory() && isSource(entry.name))
  const deeper = await Promise.all(inside.map(({ name }) => directoriesIn(join(directory, name))))
  return [directory, ...deeper.flat()]
}
