import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useEffect, useMemo } from 'react'
import { createStore, useStore } from '../ui/store.ts'
import { api, isBatonError } from './api.ts'
import { whenConnected } from './live.ts'

/**
 * All issues the user may see. Lists, boards and pages read from here, so that opening one needs no request and an edit
 * shows everywhere at once. Loaded page by page in the background, then kept up to date by the live stream.
 */
const issues = new Map<string, Issue>()
const idsByCode = new Map<string, string>()
/** The server's newest version, and local changes without an answer yet. `issues` holds both merged. */
const confirmed = new Map<string, Issue>()
const pendingChanges = new Map<string, Partial<Issue>[]>()

/** Orders requests, answers and removals; `performance.now()` is too coarse to order two of them. */
let ticks = 0
/** Tick of each issue's last answer: a list requested before it may lack the issue although it exists. */
const receivedAt = new Map<string, number>()
/** Tick of each removal: an answer requested before it must not bring the issue back. */
const removedAt = new Map<string, number>()
const maxRemovals = 1000

/** Issues beyond this number are found by searching on the server. */
export const maxIssues = 20_000
/** Minimum time between renders for changes made elsewhere and loaded pages, so that key presses do not wait for them. */
const renderEveryMs = 400

export interface Snapshot {
  issues: readonly Issue[]
  /** All pages have been loaded, up to `maxIssues`. */
  complete: boolean
  /** There are more issues than `maxIssues`. */
  limited: boolean
  error: unknown
}

const store = createStore<Snapshot>({ issues: [], complete: false, limited: false, error: null })

export { store as issueStore }

let loading: Promise<void> | null = null
let loadAgain = false

type IssueListener = (before: Issue | undefined, after: Issue | undefined) => void
const issueListeners = new Set<IssueListener>()

/** Calls `listener` when an issue's confirmed version was created, changed or removed; not for the first load. */
export const onIssueChange = (listener: IssueListener) => void issueListeners.add(listener)

function emit(before: Issue | undefined, after: Issue | undefined) {
  for (const listener of issueListeners) listener(before, after)
}

type Progress = Partial<Omit<Snapshot, 'issues'>>
/** Changes that are not rendered yet. */
let unpublished: Progress = {}
let isScheduled = false
let timer: ReturnType<typeof setTimeout> | undefined
let publishedAt = Number.NEGATIVE_INFINITY

/** Renders the user's own changes at once, with one render for all changes of the same task. */
function publish(progress: Progress = {}) {
  Object.assign(unpublished, progress)
  if (isScheduled) return
  isScheduled = true
  clearTimeout(timer)
  timer = undefined
  queueMicrotask(() => {
    const changes = unpublished
    unpublished = {}
    isScheduled = false
    publishedAt = performance.now()
    store.set({ ...store.get(), ...changes, issues: [...issues.values()] })
  })
}

/** Renders changes made elsewhere: at once if the last render is long ago, otherwise together with later ones. */
export function publishSoon(progress: Progress = {}) {
  Object.assign(unpublished, progress)
  const waitMs = publishedAt + renderEveryMs - performance.now()
  if (waitMs <= 0) publish()
  else timer ??= setTimeout(publish, waitMs)
}

function merge(id: string) {
  const issue = confirmed.get(id)
  if (!issue) return
  const known = issues.get(id)
  if (known && known.code !== issue.code) idsByCode.delete(known.code)
  const changes = pendingChanges.get(id)
  issues.set(id, changes ? Object.assign({}, issue, ...changes) : issue)
  idsByCode.set(issue.code, id)
}

/** Answers may overtake each other, and removals may overtake answers: the newest wins. */
function keep(issue: Issue, requestedAt: number) {
  if ((removedAt.get(issue.id) ?? 0) > requestedAt) return
  removedAt.delete(issue.id)
  receivedAt.set(issue.id, ++ticks)
  const known = confirmed.get(issue.id)
  if (known && known.updated_at > issue.updated_at) return
  confirmed.set(issue.id, issue)
  merge(issue.id)
  if (known || store.get().complete) emit(known, issue)
}

function drop(id: string, show: typeof publish) {
  const before = confirmed.get(id)
  if (!before) return
  const known = issues.get(id)
  for (const map of [issues, confirmed, pendingChanges, receivedAt]) map.delete(id)
  if (known) idsByCode.delete(known.code)
  emit(before, undefined)
  show()
}

export function putIssue(issue: Issue) {
  keep(issue, ++ticks)
  publish()
}

/** Stores the issue that a request returns, unless the issue is removed while the request is under way. */
export async function putAnswer(request: Promise<Issue>, show = publish): Promise<Issue> {
  const requestedAt = ++ticks
  const issue = await request
  keep(issue, requestedAt)
  show()
  return issue
}

export function removeIssue(id: string, show = publish) {
  removedAt.delete(id)
  removedAt.set(id, ++ticks)
  const [oldest] = removedAt.keys()
  if (oldest && removedAt.size > maxRemovals) removedAt.delete(oldest)
  drop(id, show)
}

/** The issue with this id, or code in any letter case, if it is loaded. */
export const knownIssue = (idOrCode: string) =>
  issues.get(idOrCode) ?? issues.get(idsByCode.get(idOrCode.toUpperCase()) ?? '')

/** Shows a change before the server has accepted it. Call the returned function when the answer has arrived. */
export function changeLocally(id: string, change: Partial<Issue>): () => void {
  if (!issues.has(id)) return () => {}
  pendingChanges.set(id, [...(pendingChanges.get(id) ?? []), change])
  merge(id)
  publish()
  return () => {
    const left = pendingChanges.get(id)?.filter((one) => one !== change)
    if (left?.length) pendingChanges.set(id, left)
    else pendingChanges.delete(id)
    merge(id)
    publish()
  }
}

/** Reads one issue again. Returns null, and removes it here, if it was deleted or is no longer visible. */
export async function refreshIssue(idOrCode: string, show = publish): Promise<Issue | null> {
  try {
    return await putAnswer(api.getIssue({ issue_id: idOrCode }), show)
  } catch (error) {
    if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
    const known = knownIssue(idOrCode)
    if (known) removeIssue(known.id, show)
    return null
  }
}

/** Loads all issues. Called during a load, it loads once more afterwards, since changes may have been missed. */
export function loadIssues(): Promise<void> {
  if (loading) {
    loadAgain = true
    return loading
  }
  loading = load().finally(() => {
    loading = null
    if (loadAgain) {
      loadAgain = false
      void loadIssues()
    }
  })
  return loading
}

async function load() {
  await whenConnected(1000)
  const began = ++ticks
  const listed = new Set<string>()
  let cursor: string | null | undefined
  try {
    do {
      const requestedAt = ++ticks
      const page = await api.listIssues({ limit: limits.pageMax, ...(cursor && { cursor }) })
      for (const issue of page.data) {
        listed.add(issue.id)
        keep(issue, requestedAt)
      }
      const isFirst = cursor === undefined
      cursor = page.next_cursor
      if (isFirst) publish({ error: null })
      else publishSoon({ error: null })
    } while (cursor && listed.size < maxIssues)
    if (!cursor) dropUnlisted(listed, began)
    publish({ complete: true, limited: Boolean(cursor), error: null })
  } catch (error) {
    publish({ error })
  }
}

/** Issues that are no longer listed were deleted or hidden, unless an answer for them arrived since. */
function dropUnlisted(listed: ReadonlySet<string>, began: number) {
  for (const id of [...issues.keys()]) {
    if (!listed.has(id) && (receivedAt.get(id) ?? 0) <= began) drop(id, publish)
  }
}

/** Whether a visible issue that is not known here must be new (or beyond `maxIssues`). */
export const areIssuesComplete = () => store.get().complete

/** Starts loading the issues unless they are loaded. */
export const useLoadIssues = () =>
  useEffect(() => {
    if (!store.get().complete && !loading) void loadIssues()
  }, [])

/** All issues; the first use starts loading them. */
export function useIssues() {
  useLoadIssues()
  return useStore(store)
}

/** One issue, if it is loaded. Does not fetch it: see refreshIssue. */
export const useIssue = (idOrCode: string) => useStore(store, () => knownIssue(idOrCode))

/** Issues that pass, computed again only when an issue or one of `deps` changed. */
export function useIssuesWhere(passes: (issue: Issue) => boolean, deps: readonly unknown[]) {
  const { issues, complete, error } = useIssues()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names what its condition depends on
  const found = useMemo(() => issues.filter(passes), [issues, ...deps])
  return { issues: found, complete, error }
}
