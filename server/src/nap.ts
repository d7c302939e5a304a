/** Sleep that ends when somebody has something to do. */
export class Nap {
  #woken = false
  #wake = () => {}

  /** Whoever is about to look says so: what woke them until now needs no other look. */
  look() {
    this.#woken = false
  }

  get woken() {
    return this.#woken
  }

  wake() {
    this.#woken = true
    this.#wake()
  }

  /** Not at all if it was woken since the last look. */
  async sleep(mostMs: number) {
    if (this.#woken) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
