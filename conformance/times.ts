import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'

/** What a test file spent its time on, in milliseconds. */
export interface Times {
  /** Of its tests and hooks, without its imports. */
  wall: number
  /** Processor time of the worker, with the thread of the embedded database. */
  cpu: number
  /** Opening and emptying databases, and starting services in the worker. */
  starting: number
  /** While at least one program that it started was running. */
  processes: number
}

declare module 'vitest' {
  interface TaskMeta {
    times?: Times
  }
}

let starting = 0
const processes = { running: 0, since: 0, total: 0 }

subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess }
  if (processes.running++ === 0) processes.since = performance.now()
  child.once('exit', () => {
    if (--processes.running === 0) processes.total += performance.now() - processes.since
  })
})

/** Starts to count for a file. Workers run one file after another. Returns the times since then. */
export function beginTimes(): () => Times {
  const [began, usage] = [performance.now(), process.cpuUsage()]
  starting = 0
  Object.assign(processes, { since: began, total: 0 })
  return () => {
    const [now, { user, system }] = [performance.now(), process.cpuUsage(usage)]
    const lasting = processes.running > 0 ? now - processes.since : 0
    return { wall: now - began, cpu: (user + system) / 1000, starting, processes: processes.total + lasting }
  }
}

/** Counts the duration of `work` as that of a start. */
export async function countAsStart<T>(work: () => Promise<T>): Promise<T> {
  const from = performance.now()
  try {
    return await work()
  } finally {
    starting += performance.now() - from
  }
}

/** Processor time of this process during `work`, which other work on the machine does not change. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
