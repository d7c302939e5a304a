import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { ownDatabase } from '../server/test/empty-databases.ts'
import { ServiceProcess } from '../server/test/service-process.ts'

/** Runs `work` with a service process on its own database. */
export async function withService<T>(env: Record<string, string>, work: (service: ServiceProcess) => Promise<T>) {
  const database = await ownDatabase()
  const service = await ServiceProcess.start({ ...database.env, ...env })
  try {
    return await work(service)
  } finally {
    await service.kill('SIGTERM')
    await database.remove()
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
