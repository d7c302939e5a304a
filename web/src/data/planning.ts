import { queryOptions } from '@tanstack/react-query'
import { all, api } from './api.ts'

export const labelsQuery = queryOptions({
  queryKey: ['workspace', 'labels'],
  queryFn: () => all((cursor) => api.listLabels({ limit: 100, ...(cursor && { cursor }) })),
})

export const cyclesQuery = queryOptions({
  queryKey: ['workspace', 'cycles'],
  queryFn: () => all((cursor) => api.listCycles({ limit: 100, ...(cursor && { cursor }) })),
})

export const milestonesQuery = queryOptions({
  queryKey: ['workspace', 'milestones'],
  queryFn: () => all((cursor) => api.listMilestones({ limit: 100, ...(cursor && { cursor }) })),
})

export const initiativesQuery = queryOptions({
  queryKey: ['workspace', 'initiatives'],
  queryFn: () => all((cursor) => api.listInitiatives({ limit: 100, ...(cursor && { cursor }) })),
})
