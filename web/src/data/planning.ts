import { queryOptions } from '@tanstack/react-query'
import { readAll } from './api.ts'

export const labelsQuery = queryOptions({
  queryKey: ['workspace', 'labels'],
  queryFn: () => readAll('listLabels'),
})

export const cyclesQuery = queryOptions({
  queryKey: ['workspace', 'cycles'],
  queryFn: () => readAll('listCycles'),
})

export const milestonesQuery = queryOptions({
  queryKey: ['workspace', 'milestones'],
  queryFn: () => readAll('listMilestones'),
})

export const initiativesQuery = queryOptions({
  queryKey: ['workspace', 'initiatives'],
  queryFn: () => readAll('listInitiatives'),
})
