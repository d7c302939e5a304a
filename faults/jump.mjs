// Loaded into a process before anything else: its clock is off by as many milliseconds as stand in the file that
// FAULTS_CLOCK names. Timers run on, as they do when a machine's clock is set.
import { readFileSync } from 'node:fs'

const SystemDate = Date
const file = process.env.FAULTS_CLOCK
let offset = 0
const look = () => {
  offset = Number(readFileSync(file, 'utf8')) || 0
}
look()
setInterval(look, 100).unref()

globalThis.Date = class extends SystemDate {
  constructor(...args) {
    if (args.length === 0) super(SystemDate.now() + offset)
    else super(...args)
  }

  static now() {
    return SystemDate.now() + offset
  }
}
