import type { Project, ProjectChange } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, queries } from '../data/api.ts'
import { projectQuery, projectsQuery, putProject } from '../data/projects.ts'
import { createStore, useStore } from '../ui/store.ts'
import { say, showError } from '../ui/toast.tsx'

/** What was changed here and has no answer yet lies over what the server said: what it says meanwhile hides nothing. */
const unanswered = createStore<ReadonlyMap<string, readonly ProjectChange[]>>(new Map())

function changesAre(id: string, changes: readonly ProjectChange[]) {
  const next = new Map(unanswered.get())
  if (changes.length > 0) next.set(id, changes)
  else next.delete(id)
  unanswered.set(next)
}

const shown = (project: Project, changes = unanswered.get().get(project.id)): Project =>
  changes ? Object.assign({}, project, ...changes) : project

export function useProjects() {
  const query = useQuery(projectsQuery)
  const changes = useStore(unanswered)
  const projects = useMemo(() => query.data?.map((one) => shown(one, changes.get(one.id))), [query.data, changes])
  return { ...query, data: projects }
}

export function useProject(id: string) {
  const query = useQuery(projectQuery(id))
  const changes = useStore(unanswered).get(id)
  const project = useMemo(() => query.data && shown(query.data, changes), [query.data, changes])
  return { ...query, data: project }
}

/** As it is shown now, for changes that depend on it. */
export function knownProject(id: string): Project | undefined {
  const project =
    queries.getQueryData(projectQuery(id).queryKey) ??
    queries.getQueryData(projectsQuery.queryKey)?.find((one) => one.id === id)
  return project && shown(project)
}

/**
 * Changes a project at once on the screen, then on the server. Refused: it is taken back and said why. Done: `done` says
 * what happened, with a way to undo it.
 */
export async function editProject(id: string, change: ProjectChange, done?: string): Promise<boolean> {
  const before = knownProject(id)
  if (!before) return false
  changesAre(id, [...(unanswered.get().get(id) ?? []), change])
  let refused: unknown
  try {
    putProject(await api.updateProject({ project_id: id, ...change }))
  } catch (error) {
    refused = error
  }
  changesAre(
    id,
    (unanswered.get().get(id) ?? []).filter((one) => one !== change),
  )
  if (refused) {
    showError(refused)
    return false
  }
  if (done) say(done, { undo: () => void editProject(id, asBefore(before, change)) })
  return true
}

const asBefore = (before: Project, change: ProjectChange): ProjectChange => {
  const fields = Object.keys(change) as (keyof ProjectChange)[]
  return Object.fromEntries(fields.map((field) => [field, before[field]]))
}
