// Runs the agent's command: `node supervise.js PROGRAM ARGS…`. This process leads a process group, to which the program
// and all that it starts belong, such as the node behind npx. When `baton dev` has ended in any way, the channel to it
// closes and the group ends, so that no process keeps the port.
import { spawn } from 'node:child_process'
import { endGroup, killAfterMs, killGroup } from './process-group.ts'

const [program = '', ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
let orphaned = false

child.on('error', ({ message }) => {
  process.send?.({ failed: message }, () => process.exit(127))
})
child.on('exit', (code, signal) => {
  // Descendants of the program may still be working.
  if (orphaned) return
  if (!signal) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})

// Sent to the whole group; this process ends after the program.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

process.on('disconnect', () => {
  orphaned = true
  endGroup(process.pid)
  setTimeout(() => killGroup(process.pid), killAfterMs)
})
