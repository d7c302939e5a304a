import { queryOptions } from '@tanstack/react-query'
import { all, api } from '../api.ts'

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: () => all((cursor) => api.listProjects({ limit: 100, ...(cursor && { cursor }) })),
})

export const projectQuery = (id: string) =>
  queryOptions({ queryKey: ['project', id], queryFn: () => api.getProject({ project_id: id }) })
