import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { filledDataDir, withEmptyDatabase } from '../server/test/empty-databases.ts'
import { ServiceProcess } from '../server/test/service-process.ts'

/** Runs `work` with a service process on its own database. */
export async function withService<T>(env: Record<string, string>, work: (service: ServiceProcess) => Promise<T>) {
  if (process.env.DATABASE_URL) {
    const key = randomBytes(32).toString('base64')
    let result: T | undefined
    await withEmptyDatabase(async (DATABASE_URL) => {
      result = await running({ DATABASE_URL, BATON_SECRET_KEY: key, ...env }, work)
    })
    return result as T
  }
  const dir = await filledDataDir()
  try {
    return await running({ BATON_DATA_DIR: dir, ...env }, work)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function running<T>(env: Record<string, string>, work: (service: ServiceProcess) => Promise<T>) {
  const service = await ServiceProcess.start(env)
  try {
    return await work(service)
  } finally {
    await service.kill('SIGTERM')
  }
}

/** Resident memory of the process in MB. */
export const memoryOf = ({ child }: ServiceProcess) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)

/** Number of sockets of the process. Clients that do not read do not notice that theirs was closed. */
export function socketsOf({ child }: ServiceProcess) {
  const folder = `/proc/${child.pid}/fd`
  const isSocket = (fd: string) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }
  return readdirSync(folder).filter(isSocket).length
}

/** CPU time of the process in seconds; 100 ticks are one second. */
export function cpuOf({ child }: ServiceProcess) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
