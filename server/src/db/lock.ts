import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const beatMs = 2000
const silentMs = 10_000

/** Somebody else holds the lock. */
export class LockedError extends Error {
  readonly pid: string
  constructor(pid: string) {
    super(`held by process ${pid}`)
    this.pid = pid
  }
}

/**
 * Takes a lock file, which names its holder. A holder that is gone (kill -9, power loss) holds nothing. Its start time
 * tells it from another process that got its number. A holder in another container cannot be looked up: it is alive as
 * long as it touches the file.
 */
export async function takeLock(file: string): Promise<() => void> {
  const mine = `${process.pid} ${startTime(process.pid)} ${pidNamespace()}\n`
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, mine)
  try {
    while (!linked(draft, file)) {
      const found = readIfThere(file)
      if (found === undefined) continue
      if (await isHeld(file, found)) throw new LockedError(found.split(' ')[0] ?? '?')
      takeAway(file, found)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  const beat = setInterval(() => touch(file), beatMs).unref()
  return () => {
    clearInterval(beat)
    if (readIfThere(file) === mine) rmSync(file, { force: true })
  }
}

async function isHeld(file: string, content: string): Promise<boolean> {
  const [pid, started, namespace] = content.trim().split(' ')
  if (namespace === pidNamespace()) return isRunning(Number(pid), started)
  const before = touchedAt(file)
  if (Date.now() - before > silentMs) return false
  await sleep(silentMs - (Date.now() - before))
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

/** A hard link appears whole or not at all, with its content in it. */
function linked(draft: string, file: string) {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a holder that is gone, unless somebody else has just replaced it: then theirs is put back. */
function takeAway(file: string, stale: string) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  if (readIfThere(aside) !== stale) linked(aside, file)
  rmSync(aside, { force: true })
}

function touch(file: string) {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // The directory may be gone; then there is nothing left to guard.
  }
}

const touchedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Undefined only where there is no such file; what cannot be read is an error. */
function readIfThere(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Where the system tells (Linux): clock ticks between boot and the start of the process. */
function startTime(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
  } catch {
    return '-'
  }
}

/** Where the system tells (Linux): which processes can see each other's numbers. */
function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '-'
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
