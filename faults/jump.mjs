// Preloaded into a process: shifts its clock by the milliseconds in the file named by FAULTS_CLOCK. Timers are not
// affected, as when a machine's clock is set.
import { readFileSync } from 'node:fs'

const SystemDate = Date
const file = process.env.FAULTS_CLOCK
let offset = 0
const readOffset = () => {
  offset = Number(readFileSync(file, 'utf8')) || 0
}
readOffset()
setInterval(readOffset, 100).unref()

const now = () => SystemDate.now() + offset

// Not a subclass: dates that another thread sends are of the class itself.
globalThis.Date = new Proxy(SystemDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
