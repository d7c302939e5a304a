import { statfsSync } from 'node:fs'

const megabyte = 1024 * 1024
/**
 * When the disk has no room for the next WAL segment (16 MB), PGlite does not fail but hangs, and its thread with it.
 * So writes stop while there is still room for a few segments.
 */
const reserveBytes = 64 * megabyte
const checkIntervalMs = 50

/** What the process and the thread of the database share of a disk. */
export interface SharedDisk {
  dir: string
  /** In shared memory: the bytes to keep free, and 1 while the disk is full. */
  numbers: Float64Array
}

/** Free space of the disk that holds the database. */
export class Disk {
  readonly shared: SharedDisk
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(dirOrShared: string | SharedDisk) {
    this.shared =
      typeof dirOrShared === 'string'
        ? { dir: dirOrShared, numbers: new Float64Array(new SharedArrayBuffer(16)).fill(reserveBytes, 0, 1) }
        : dirOrShared
  }

  get keptFree(): number {
    return this.shared.numbers[0] as number
  }

  set keptFree(bytes: number) {
    this.shared.numbers[0] = bytes
  }

  get isFull(): boolean {
    return this.shared.numbers[1] === 1
  }

  /** A message when there is too little space to start. */
  get problem(): string | undefined {
    const free = this.#freeBytes()
    return free < this.keptFree
      ? `the disk of ${this.shared.dir} has ${inMegabytes(free)} left; free at least ${inMegabytes(this.keptFree)}`
      : undefined
  }

  hasRoomFor(bytes: number): boolean {
    return this.#freeBytes() - bytes > 2 * this.keptFree
  }

  /** A message if `isFull` changed since the last call. */
  check(): string | undefined {
    const now = performance.now()
    if (now - this.#checkedAt < checkIntervalMs) return undefined
    this.#checkedAt = now
    const free = this.#freeBytes()
    // Twice as much to resume, so that it does not flap.
    const isFull = free < this.keptFree * (this.isFull ? 2 : 1)
    if (isFull === this.isFull) return undefined
    this.shared.numbers[1] = Number(isFull)
    return isFull
      ? `The disk of ${this.shared.dir} has only ${inMegabytes(free)} left: nothing is written until ${inMegabytes(2 * this.keptFree)} are free`
      : `The disk of ${this.shared.dir} has enough space again`
  }

  #freeBytes() {
    const { bavail, bsize } = statfsSync(this.shared.dir)
    return bavail * bsize
  }
}

const inMegabytes = (bytes: number) => `${Math.floor(bytes / megabyte)} MB`
