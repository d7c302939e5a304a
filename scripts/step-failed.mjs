/** Scripts print its message without a stack (main in setup.mjs, run.ts of the server). */
export class StepFailed extends Error {
  name = 'StepFailed'
}

/** A signal to this process ended an installation or build. */
export class Interrupted extends StepFailed {
  constructor(signal) {
    super(`Stopped by ${signal}`)
    this.signal = signal
  }
}
