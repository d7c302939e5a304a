import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `born` tells a process from a later one with the same id; empty where the system does not say. */
export interface ProcessId {
  pid: number
  born: string
}

interface ProcessRow extends ProcessId {
  parent: number
  ended: boolean
}

/** All processes that this user can see. Empty on Windows, where taskkill finds descendants itself. */
async function listProcesses(): Promise<ProcessRow[]> {
  if (process.platform === 'win32') return []
  if (process.platform === 'linux') {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const rows = await Promise.all(names.map((name) => readProc(Number(name))))
    return rows.filter((row) => row !== null)
  }
  const { stdout } = await run('ps', ['-axo', 'pid=,ppid=,stat=,lstart='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, stat = '', born = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid ? [{ pid: Number(pid), parent: Number(parent), ended: stat.startsWith('Z'), born }] : []
  })
}

async function readProc(pid: number): Promise<ProcessRow | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The name of the program is in brackets and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { pid, parent: Number(fields[1]), ended: fields[0] === 'Z' || fields[0] === 'X', born: fields[19] ?? '' }
}

/** The process and all its descendants that have not ended. */
export async function withDescendants(pid: number): Promise<ProcessId[]> {
  const rows = await listProcesses()
  const children = new Map<number, ProcessRow[]>()
  for (const row of rows) children.set(row.parent, [...(children.get(row.parent) ?? []), row])
  const found: ProcessId[] = []
  const waiting = rows.filter((row) => row.pid === pid)
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    if (!row.ended) found.push({ pid: row.pid, born: row.born })
    waiting.push(...(children.get(row.pid) ?? []))
  }
  return found
}

/** Null if there is no such process, or it has ended. */
export async function identify(pid: number): Promise<ProcessId | null> {
  if (process.platform === 'linux') {
    const row = await readProc(pid)
    return row && !row.ended ? { pid, born: row.born } : null
  }
  const row = (await listProcesses()).find((one) => one.pid === pid && !one.ended)
  if (row) return { pid, born: row.born }
  return process.platform === 'win32' && isRunning(pid) ? { pid, born: '' } : null
}

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export async function isAlive({ pid, born }: ProcessId): Promise<boolean> {
  const now = await identify(pid)
  return now !== null && now.born === born
}

/**
 * Ends processes and their descendants at once. Listed again until none is left, because a process can start others
 * until it has ended.
 */
export async function killAll(listed: Iterable<ProcessId>): Promise<void> {
  const known = new Map([...listed].map((one) => [`${one.pid} ${one.born}`, one]))
  if (process.platform === 'win32') {
    for (const { pid } of known.values()) await run('taskkill', ['/pid', String(pid), '/T', '/F']).catch(() => {})
    return
  }
  for (let round = 0; round < 10; round++) {
    for (const one of [...known.values()]) {
      if (!(await isAlive(one))) continue
      for (const found of await withDescendants(one.pid)) known.set(`${found.pid} ${found.born}`, found)
    }
    const alive = (
      await Promise.all([...known.values()].map(async (one) => ((await isAlive(one)) ? one : null)))
    ).filter((one) => one !== null)
    if (alive.length === 0) return
    for (const { pid } of alive) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended in the meantime, or belongs to another user.
      }
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
