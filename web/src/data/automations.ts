import { queryOptions } from '@tanstack/react-query'
import { api, queries, readAll } from './api.ts'

/** Read again with the lists of the workspace, when an automation was changed or paused. */
export const automationsQuery = queryOptions({
  queryKey: ['workspace', 'automations'],
  queryFn: () => readAll('listAutomations'),
})

export const automationQuery = (id: string) =>
  queryOptions({
    queryKey: ['workspace', 'automations', id],
    queryFn: () => api.getAutomation({ automation_id: id }),
  })

/** The live stream does not report runs. */
export const runsQuery = (id: string) =>
  queryOptions({
    queryKey: ['automation-runs', id],
    queryFn: () => api.listAutomationRuns({ automation_id: id, limit: 50 }),
    refetchInterval: 5000,
  })

export const rereadAutomation = (id: string) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['workspace', 'automations'] }),
    queries.invalidateQueries({ queryKey: ['automation-runs', id] }),
  ])
