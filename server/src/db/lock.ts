import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const touchIntervalMs = 2000
const staleAfterMs = 10_000

/** Another process holds the lock. */
export class LockedError extends Error {
  readonly pid: string
  constructor(pid: string) {
    super(`held by process ${pid}`)
    this.pid = pid
  }
}

/**
 * Takes a lock file, which names its holder. The lock of a process that has died (kill -9, power loss) does not count;
 * the start time distinguishes it from a later process with the same id. A holder in another container cannot be looked
 * up: it counts as alive as long as it touches the file.
 */
export async function takeLock(file: string): Promise<() => void> {
  const mine = `${process.pid} ${startTime(process.pid)} ${pidNamespace()}\n`
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, mine)
  try {
    while (!linked(draft, file)) {
      const found = readIfExists(file)
      if (found === undefined) continue
      if (await isHeld(file, found)) throw new LockedError(found.split(' ')[0] ?? '?')
      removeStale(file, found)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  const timer = setInterval(() => touch(file), touchIntervalMs).unref()
  return () => {
    clearInterval(timer)
    if (readIfExists(file) === mine) rmSync(file, { force: true })
  }
}

async function isHeld(file: string, content: string): Promise<boolean> {
  const [pid, started, namespace] = content.trim().split(' ')
  if (namespace === pidNamespace()) return isRunning(Number(pid), started)
  const before = touchedAt(file)
  if (Date.now() - before > staleAfterMs) return false
  await sleep(staleAfterMs - (Date.now() - before))
  return touchedAt(file) !== before
}

function isRunning(pid: number, started: string | undefined) {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
  }
  const now = startTime(pid)
  return now === '-' || now === started
}

/** A hard link is atomic: the file appears with its whole content or not at all. */
function linked(draft: string, file: string) {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a dead process. If another process has just replaced it, puts that lock back. */
function removeStale(file: string, stale: string) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  if (readIfExists(aside) !== stale) linked(aside, file)
  rmSync(aside, { force: true })
}

function touch(file: string) {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // The directory may have been deleted; then there is nothing to guard.
  }
}

const touchedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Undefined if the file does not exist; throws on any other error. */
function readIfExists(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Linux only: clock ticks from boot to the start of the process. '-' elsewhere. */
function startTime(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
  } catch {
    return '-'
  }
}

/** Linux only: processes of one namespace see each other's ids. '-' elsewhere. */
function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '-'
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
