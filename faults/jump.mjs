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

globalThis.Date = class extends SystemDate {
  constructor(...args) {
    if (args.length === 0) super(SystemDate.now() + offset)
    else super(...args)
  }

  static now() {
    return SystemDate.now() + offset
  }
}
