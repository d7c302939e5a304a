import { readFileSync, readlinkSync } from 'node:fs'

/** The start time distinguishes it from a later process with the same id. */
export const identityOf = (pid) => `${pid} ${startOf(pid)} ${pidNamespace()}\n`

export function isRunning(identity) {
  const [pid, started] = identity.split(' ')
  const found = startOf(Number(pid))
  return found !== undefined && (found === '-' || started === '-' || found === started)
}

/** Clock ticks from boot to the start of a process; '-' where only its existence is known, undefined if it has ended. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // Nothing may collect a zombie in a container.
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {}
  try {
    process.kill(pid, 0)
    return '-'
  } catch (error) {
    return error.code === 'EPERM' ? '-' : undefined
  }
}

/** Linux only: processes of one namespace see each other's ids. */
export const pidNamespace = () => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '-'
  }
}

/** Everything that is built survives this, so programs get no time to end. */
export function endGroup(pid) {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended, or belongs to another user.
  }
}
