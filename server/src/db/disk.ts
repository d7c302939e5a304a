import { statfsSync } from 'node:fs'

const megabyte = 1024 * 1024
/**
 * When the disk has no room for the next WAL segment (16 MB), PGlite does not fail but hangs, and the process with it.
 * So writes stop while there is still room for a few segments.
 */
const reserveBytes = 64 * megabyte
const checkIntervalMs = 50

/** Free space of the disk that holds the database. */
export class Disk {
  isFull = false
  keptFree = reserveBytes
  readonly #dir: string
  readonly #print: (line: string) => void
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(dir: string, print: (line: string) => void) {
    this.#dir = dir
    this.#print = print
  }

  /** A message when there is too little space to start. */
  get problem(): string | undefined {
    const free = freeBytes(this.#dir)
    return free < this.keptFree
      ? `the disk of ${this.#dir} has ${inMegabytes(free)} left; free at least ${inMegabytes(this.keptFree)}`
      : undefined
  }

  hasRoomFor(bytes: number): boolean {
    return freeBytes(this.#dir) - bytes > 2 * this.keptFree
  }

  /** Whether `isFull` changed since the last call. */
  hasChanged(): boolean {
    const now = performance.now()
    if (now - this.#checkedAt < checkIntervalMs) return false
    this.#checkedAt = now
    const free = freeBytes(this.#dir)
    // Twice as much to resume, so that it does not flap.
    const isFull = free < this.keptFree * (this.isFull ? 2 : 1)
    if (isFull === this.isFull) return false
    this.isFull = isFull
    this.#print(
      isFull
        ? `The disk of ${this.#dir} has only ${inMegabytes(free)} left: nothing is written until ${inMegabytes(2 * this.keptFree)} are free`
        : `The disk of ${this.#dir} has enough space again`,
    )
    return true
  }
}

const inMegabytes = (bytes: number) => `${Math.floor(bytes / megabyte)} MB`

function freeBytes(dir: string) {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}
