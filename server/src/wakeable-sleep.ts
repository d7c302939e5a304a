/** A sleep between polls that `wake` ends early. */
export class WakeableSleep {
  #woken = false
  #wake = () => {}

  /** Clears pending wake-ups; call it before polling. */
  clear() {
    this.#woken = false
  }

  get woken() {
    return this.#woken
  }

  wake() {
    this.#woken = true
    this.#wake()
  }

  /** Returns at once if `wake` was called since the last `clear`. */
  async sleep(maxMs: number) {
    if (this.#woken) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, maxMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
