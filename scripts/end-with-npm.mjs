import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const everyMs = 500

/**
 * Stops this process like SIGTERM when the npm or npx that runs it has ended in any way. npm passes a signal only to the
 * shell it runs the script in (npm → sh → node), and the shell does not pass it on, so this process would keep the port.
 *
 * Does nothing without npm: a service that was started by systemd or with nohup outlives its first parent.
 */
export function endWithNpm() {
  const parent = process.ppid
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return
  const { ppid, command } = describe(parent) ?? { ppid: 0, command: '' }
  const isShell = command.includes(' -c ') && command.includes(process.env.npm_lifecycle_script ?? '')
  // Some shells replace themselves by the command; npm is the parent then.
  if (!isShell && !/\b(npm|pnpm|yarn)\b/.test(command)) return
  const timer = setInterval(() => {
    if (process.ppid === parent && (!isShell || isChild(parent, ppid))) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, everyMs).unref()
}

/** Whether the process `child` still has the parent `pid`. A process gets another parent when its own ends. */
function isChild(child, pid) {
  if (process.platform === 'linux') return describe(child)?.ppid === pid
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Parent and command line of a process, or null if they cannot be read. */
function describe(pid) {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' })
    const [, ppid = '0', command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? []
    return { ppid: Number(ppid), command }
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    // The name, in parentheses, can contain spaces.
    return { ppid: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), command }
  } catch {
    return null
  }
}
