import type { ChecksState, PullRequestState } from '@baton/protocol'

/** What a request of a git host says, in the same form for all hosts. */
export type Reading = PullRequestReading | CheckReading | BranchReading

export interface PullRequestReading {
  type: 'pull_request'
  repository: string
  /** Whether only members of the host's project can read the repository. */
  private: boolean
  number: number
  title: string
  body: string
  url: string
  branch: string
  /** Null if this event does not name the author. */
  author: string | null
  state: PullRequestState
  fork: boolean
  headCommit: string
  updatedAt: Date
  /** Whether a reviewer is asked and has not answered. */
  reviewRequested: boolean
  reviews: ReviewChange
}

/** Hosts report each review alone, so the reviews of a pull request are stored by reviewer. */
export interface ReviewChange {
  set: Readonly<Record<string, ReviewVerdict | null>>
  /** A push reset all approvals. */
  clearApprovals?: boolean
}
export type ReviewVerdict = 'approved' | 'changes_requested'

export interface CheckReading {
  type: 'check'
  repository: string
  commit: string
  name: string
  /** Grows with every run of the check. */
  run: number
  state: ChecksState
  at: Date
}

export interface BranchReading {
  type: 'branch'
  repository: string
  branch: string
  deleted: boolean
  url: string
  /** Null if the host does not say. */
  pushedAt: Date | null
}

/** The time at the git host of what a request reports; null if the host does not say. */
export function timeOf(reading: Reading): Date | null {
  switch (reading.type) {
    case 'pull_request':
      return reading.updatedAt
    case 'check':
      return reading.at
    case 'branch':
      return reading.pushedAt
  }
}

/** A host's own events: the value of the event header and the parsed body. Null if Baton does not use the event. */
export type ReadEvent = (event: string, body: Json) => Reading | null

/** A parsed JSON value whose shape is not known. Reading a field of something else than an object gives undefined. */
export class Json {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }

  at(...path: string[]): Json {
    let value = this.value
    for (const key of path) {
      value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
    }
    return new Json(value)
  }

  get exists() {
    return this.value !== undefined && this.value !== null
  }

  get isObject() {
    return isObject(this.value)
  }

  get items(): Json[] {
    return Array.isArray(this.value) ? this.value.slice(0, maxItems).map((item) => new Json(item)) : []
  }

  get flag() {
    return this.value === true
  }

  get number(): number | null {
    return Number.isSafeInteger(this.value) ? (this.value as number) : null
  }

  /** A text on one line, without characters that hide or reorder others. */
  line(maxLength: number): string | null {
    if (typeof this.value !== 'string') return null
    const visible = this.value
      .replace(/[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ' ')
      .replace(/\s+/g, ' ')
    const text = [...visible.slice(0, 4 * maxLength)].slice(0, maxLength).join('').trim()
    return text === '' ? null : text
  }

  text(maxLength: number): string {
    return typeof this.value === 'string' ? this.value.slice(0, maxLength) : ''
  }

  /** An http or https address: pages link to it. A longer one would not fit into the index of addresses. */
  url(): string | null {
    const text = this.line(maxUrlBytes + 1)
    return text && /^https?:\/\/[^\s/]/i.test(text) && Buffer.byteLength(text) <= maxUrlBytes ? text : null
  }

  /** ISO 8601, as GitLab also writes it (`2026-03-02 09:00:00 UTC`), or seconds since 1970. */
  time(): Date | null {
    const { value } = this
    const time = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(isoOf(value)) : NaN
    return time > 0 && time < 4e12 ? new Date(time) : null
  }
}

const maxItems = 100
const maxUrlBytes = 2000
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isoOf = (text: string) => text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/, '$1T$2').replace(/ UTC$/, 'Z')

/** Lengths of texts that are kept. */
export const lengths = { title: 500, branch: 255, author: 100, repository: 200, body: 100_000, name: 200, commit: 64 }

/** Returns the fields if none is missing. */
export function complete<T extends object>(fields: T): { [K in keyof T]: NonNullable<T[K]> } | null {
  return Object.values(fields).some((value) => value === null || value === undefined)
    ? null
    : (fields as { [K in keyof T]: NonNullable<T[K]> })
}

/** The branch of a git reference; null for tags and others. */
export function branchOf(ref: string | null): string | null {
  return ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
}

export const encodedPath = (branch: string) => branch.split('/').map(encodeURIComponent).join('/')

/** All zeros: a push that deletes the branch. */
export const isNoCommit = (commit: string | null) => commit !== null && /^0+$/.test(commit)
