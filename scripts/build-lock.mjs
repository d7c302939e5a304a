// One installation or build at a time in a checkout. Uses only Node's own modules, because nothing may be installed yet.
import { randomUUID } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endGroup, identityOf, isRunning, pidNamespace } from './processes.mjs'
import { Interrupted, StepFailed } from './step-failed.mjs'

const pollMs = 100
const touchIntervalMs = 2000
const staleAfterMs = 10_000
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Git ignores it. Not in node_modules, which npm empties before it installs. */
export const buildDir = (root) => join(root, '.build')

/**
 * Waits for the lock of the checkout and does the work. A signal to this process ends the program that the work runs, and
 * the promise rejects with Interrupted.
 */
export async function withBuildLock(root, work) {
  const stop = new AbortController()
  const onSignal = (signal) => stop.abort(new Interrupted(signal))
  for (const signal of endingSignals) process.on(signal, onSignal)
  let lock
  const onExit = () => lock?.release()
  process.on('exit', onExit)
  try {
    lock = await takeLock(root, stop.signal)
    const result = await work(lock)
    stop.signal.throwIfAborted()
    return result
  } finally {
    lock?.release()
    for (const signal of endingSignals) process.off(signal, onSignal)
    process.off('exit', onExit)
  }
}

/**
 * The lock is the file with the highest number. It names its holder, and is empty when it was released. Who finds it
 * empty, or its holder dead, creates the next number, which only one process can. The highest is never removed: a process
 * that read the folder earlier would create that number again.
 */
async function takeLock(root, signal) {
  let waits = false
  for (;;) {
    signal.throwIfAborted()
    try {
      mkdirSync(buildDir(root), { recursive: true })
      const last = lastNumber(root)
      const pid = holderOf(fileOf(root, last))
      if (pid === undefined && created(root, last + 1)) return new BuildLock(root, last + 1, signal)
      if (pid === undefined) continue
      // Others that waited take the lock for a moment, to see that nothing is left to do.
      if (!waits) announce(pid)
      waits = true
    } catch (error) {
      throw ['EROFS', 'EACCES', 'EPERM'].includes(error.code) ? notWritable(root, error.code) : error
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}

class BuildLock {
  /** Aborted when a signal arrived. */
  signal
  #file
  #program
  #timer

  constructor(root, number, signal) {
    this.signal = signal
    this.#file = fileOf(root, number)
    // For processes in other containers, which cannot look up the holder.
    this.#timer = setInterval(() => ifThere(() => utimesSync(this.#file, new Date(), new Date())), touchIntervalMs)
    this.#timer.unref()
    for (const earlier of numbersIn(root)) if (earlier < number) rmSync(fileOf(root, earlier), { force: true })
  }

  /**
   * Has to be called for each program that the work runs. It is the leader of a process group, which ends with this process
   * or, if this process is killed, before the next one takes the lock.
   */
  own(child) {
    if (!child.pid) return
    this.#program = child.pid
    child.once('exit', () => {
      this.#program = undefined
    })
    writeFileSync(`${this.#file}.part`, `${identityOf(process.pid)}${identityOf(child.pid)}`)
    renameSync(`${this.#file}.part`, this.#file)
    if (this.signal.aborted) endGroup(child.pid)
    else this.signal.addEventListener('abort', () => this.#endProgram(), { once: true })
  }

  #endProgram() {
    if (this.#program) endGroup(this.#program)
  }

  release() {
    clearInterval(this.#timer)
    this.#endProgram()
    ifThere(() => truncateSync(this.#file))
  }
}

const fileOf = (root, number) => join(buildDir(root), `lock-${number}`)
const numbersIn = (root) =>
  readdirSync(buildDir(root)).flatMap((name) => (/^lock-\d+$/.test(name) ? [Number(name.slice(5))] : []))
const lastNumber = (root) => Math.max(0, ...numbersIn(root))

/** A hard link is atomic: the file appears with its whole content or not at all. */
function created(root, number) {
  const draft = join(buildDir(root), `draft-${randomUUID()}`)
  writeFileSync(draft, identityOf(process.pid))
  try {
    linkSync(draft, fileOf(root, number))
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
  if (lastNumber(root) === number) return true
  // Others took and removed this number since the folder was read.
  rmSync(fileOf(root, number), { force: true })
  return false
}

/** The process to wait for; undefined if the lock is free. Ends a program that a killed holder left. */
function holderOf(file) {
  const [holder = '', program = ''] = (ifThere(() => readFileSync(file, 'utf8')) ?? '').split('\n')
  const [pid, , namespace] = holder.split(' ')
  if (!pid) return undefined
  if (namespace !== pidNamespace()) {
    const touched = ifThere(() => statSync(file).mtimeMs) ?? 0
    return Date.now() - touched < staleAfterMs ? pid : undefined
  }
  if (isRunning(holder)) return pid
  if (!program || !isRunning(program)) return undefined
  const [programPid] = program.split(' ')
  endGroup(Number(programPid))
  return programPid
}

const announced = new Set([String(process.pid)])
function announce(pid) {
  if (announced.has(pid)) return
  announced.add(pid)
  console.log(`Waiting for another build in this checkout (process ${pid})`)
}

const notWritable = (root, code) =>
  new StepFailed(
    `Baton has to install or build, but ${resolve(root)} cannot be written (${code}). Run npm start there once with write access; the build is then used as it is`,
  )

function ifThere(read) {
  try {
    return read()
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return undefined
  }
}
