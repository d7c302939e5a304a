import { spawnSync } from 'node:child_process'

/** Time between SIGTERM and SIGKILL. */
export const killAfterMs = 4000

/** Asks all processes of the group to end. `leader` is the process id of the group's first process. */
export const endGroup = (leader: number) => signal(leader, 'SIGTERM')

/** Ends the processes that are left of the group. */
export const killGroup = (leader: number) => signal(leader, 'SIGKILL')

function signal(leader: number, name: 'SIGTERM' | 'SIGKILL') {
  if (process.platform === 'win32') {
    // Windows has neither groups nor signals.
    spawnSync('taskkill', ['/pid', String(leader), '/T', '/F'])
    return
  }
  try {
    process.kill(-leader, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
