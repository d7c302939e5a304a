import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Code and configuration. Other files, such as logs and data, are often written by the agent or by this command itself,
 * and would restart it for ever.
 */
const isSource = (name: string) =>
  /^(\.env|(package|manifest|tsconfig)\.json)$/.test(name) ||
  /^[^.].*\.([cm]?[jt]sx?|py|rb|php|go|rs|java|kts?|cs|exs?|sh|ya?ml|toml|wasm)$/i.test(name)

/** Ignores dependencies, hidden directories and the tokens. */
const isSearched = (name: string) => !/^(\.|node_modules$|tokens$)/.test(name)

/** Editors write a file in several steps, and several files at once. */
const debounceMs = 150

/** Calls `changed` after a source file in the directory was saved. Returns a function that stops watching. */
export async function watchSources(directory: string, changed: () => void): Promise<() => void> {
  const stop = new AbortController()
  const { signal } = stop
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const changedSoon = () => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(changed, debounceMs)
  }
  const watchDirectories = async (parent: string) => {
    const { directories, hasSources } = await search(parent)
    for (const path of directories) {
      if (watchers.has(path)) continue
      const watcher = watch(path, { signal }, (event, name) => {
        if (name === null || isSource(name)) changedSoon()
        else if (event === 'rename' && isSearched(name)) watchIfDirectory(join(path, name)).catch(() => {})
      })
      const forget = () => watchers.delete(path)
      watcher.on('error', () => watcher.close()).on('close', forget)
      watchers.set(path, watcher)
    }
    return hasSources
  }
  const watchIfDirectory = async (path: string) => {
    // One that was made again has lost its watcher.
    watchers.get(path)?.close()
    if ((await stat(path)).isDirectory() && (await watchDirectories(path))) changedSoon()
  }
  await watchDirectories(directory)
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
}

/** The directory and those in it, and whether one of them has a source file. */
async function search(directory: string): Promise<{ directories: string[]; hasSources: boolean }> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const inside = entries.filter((entry) => entry.isDirectory() && isSearched(entry.name))
  const deeper = await Promise.all(inside.map(({ name }) => search(join(directory, name))))
  return {
    directories: [directory, ...deeper.flatMap(({ directories }) => directories)],
    hasSources:
      entries.some((entry) => entry.isFile() && isSource(entry.name)) || deeper.some(({ hasSources }) => hasSources),
  }
}
