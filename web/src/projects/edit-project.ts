import type { Project, ProjectChange } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, queries } from '../data/api.ts'
import { projectQuery, projectsQuery, putProject } from '../data/projects.ts'
import { createStore, useStore } from '../ui/store.ts'
import { showError, showToast } from '../ui/toast.tsx'

/** Changes without an answer from the server yet. They override the latest data from the server. */
const pending = createStore<ReadonlyMap<string, readonly ProjectChange[]>>(new Map())

function setPending(id: string, changes: readonly ProjectChange[]) {
  const next = new Map(pending.get())
  if (changes.length > 0) next.set(id, changes)
  else next.delete(id)
  pending.set(next)
}

const withPending = (project: Project, changes = pending.get().get(project.id)): Project =>
  changes ? Object.assign({}, project, ...changes) : project

export function useProjects() {
  const query = useQuery(projectsQuery)
  const changes = useStore(pending)
  const projects = useMemo(() => query.data?.map((one) => withPending(one, changes.get(one.id))), [query.data, changes])
  return { ...query, data: projects }
}

export function useProject(id: string) {
  const query = useQuery(projectQuery(id))
  const changes = useStore(pending).get(id)
  const project = useMemo(() => query.data && withPending(query.data, changes), [query.data, changes])
  return { ...query, data: project }
}

/** The project as it is shown now, for changes that depend on it. */
export function knownProject(id: string): Project | undefined {
  const project =
    queries.getQueryData(projectQuery(id).queryKey) ??
    queries.getQueryData(projectsQuery.queryKey)?.find((one) => one.id === id)
  return project && withPending(project)
}

/**
 * Changes a project on the screen at once, then on the server. A refused change is reverted and the reason shown. On
 * success the message `done` is shown with an Undo.
 */
export async function editProject(id: string, change: ProjectChange, done?: string): Promise<boolean> {
  const before = knownProject(id)
  if (!before) return false
  setPending(id, [...(pending.get().get(id) ?? []), change])
  let refused: unknown
  try {
    putProject(await api.updateProject({ project_id: id, ...change }))
  } catch (error) {
    refused = error
  }
  setPending(
    id,
    (pending.get().get(id) ?? []).filter((one) => one !== change),
  )
  if (refused) {
    showError(refused)
    return false
  }
  if (done) showToast(done, { undo: () => void editProject(id, previousValues(before, change)) })
  return true
}

const previousValues = (before: Project, change: ProjectChange): ProjectChange => {
  const fields = Object.keys(change) as (keyof ProjectChange)[]
  return Object.fromEntries(fields.map((field) => [field, before[field]]))
}
