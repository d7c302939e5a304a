import { statfsSync } from 'node:fs'

const megabyte = 1024 * 1024
/**
 * PGlite cannot begin another segment of its log (16 MB) without room for it: it does not fail then, but never comes
 * back, and the process with it. So nothing is written any more while there is still room for a few.
 */
const reserveBytes = 64 * megabyte
const lookEveryMs = 50

/** The disk that a database lies on. */
export class Disk {
  isFull = false
  keptFree = reserveBytes
  readonly #dir: string
  readonly #say: (line: string) => void
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(dir: string, say: (line: string) => void) {
    this.#dir = dir
    this.#say = say
  }

  /** One line, when there is too little room to begin. */
  get problem(): string | undefined {
    const free = freeBytes(this.#dir)
    return free < this.keptFree
      ? `the disk of ${this.#dir} has ${inMegabytes(free)} left; make room for ${inMegabytes(this.keptFree)}`
      : undefined
  }

  hasRoomFor(bytes: number): boolean {
    return freeBytes(this.#dir) - bytes > 2 * this.keptFree
  }

  /** Whether it has become full, or no longer is. */
  hasChanged(): boolean {
    const now = performance.now()
    if (now - this.#lookedAt < lookEveryMs) return false
    this.#lookedAt = now
    const free = freeBytes(this.#dir)
    // Twice as much to begin again, so that it does not go on and off.
    const isFull = free < this.keptFree * (this.isFull ? 2 : 1)
    if (isFull === this.isFull) return false
    this.isFull = isFull
    this.#say(
      isFull
        ? `The disk of ${this.#dir} is full but for ${inMegabytes(free)}: nothing is written until ${inMegabytes(2 * this.keptFree)} are free`
        : `The disk of ${this.#dir} has room again`,
    )
    return true
  }
}

const inMegabytes = (bytes: number) => `${Math.floor(bytes / megabyte)} MB`

function freeBytes(dir: string) {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}
