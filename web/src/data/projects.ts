import type { Milestone, Project } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, isBatonError, queries, readAll } from './api.ts'

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: () => readAll('listProjects'),
})

/** Starts with the project from the list. Null if it was deleted or is another user's private project. */
export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['project', id],
    queryFn: async (): Promise<Project | null> => {
      try {
        return await api.getProject({ project_id: id })
      } catch (error) {
        if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return null
        throw error
      }
    },
    placeholderData: () => queries.getQueryData(projectsQuery.queryKey)?.find((project) => project.id === id),
  })

export const projectSessionsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['sessions', 'project', projectId],
    queryFn: () => readAll('listAgentSessions', { project_id: projectId }),
  })

export const projectMilestonesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['workspace', 'milestones', projectId],
    queryFn: async () => {
      const milestones = await readAll('listMilestones', { project_id: projectId })
      return milestones.sort(byTargetDate)
    },
  })

/** Sorted by target date; those without one come last, by creation. */
const byTargetDate = (a: Milestone, b: Milestone) =>
  (a.target_date ?? '9').localeCompare(b.target_date ?? '9') || a.created_at.localeCompare(b.created_at)

const none: Milestone[] = []
export const useMilestones = (projectId: string) => useQuery(projectMilestonesQuery(projectId)).data ?? none

/** Stores an answer of the server. Answers may arrive out of order: the newest version wins. */
export function putProject(project: Project) {
  const newer = (known: Project | null | undefined) =>
    known && known.updated_at > project.updated_at ? known : project
  queries.setQueryData(projectQuery(project.id).queryKey, newer)
  queries.setQueryData<Project[]>(projectsQuery.queryKey, (known) => {
    if (!known) return known
    return known.some(({ id }) => id === project.id)
      ? known.map((one) => (one.id === project.id ? newer(one) : one))
      : [project, ...known]
  })
}

export function forgetProject(id: string) {
  queries.setQueryData<Project[]>(projectsQuery.queryKey, (known) => known?.filter((project) => project.id !== id))
  queries.setQueryData(projectQuery(id).queryKey, null)
}
