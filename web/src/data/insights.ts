import type { AgentInsights, CycleInsights, DeliveryInsights, FlowInsights } from '@baton/protocol'
import { refusalOf } from '@baton/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { api, currentWorkspaceId } from './api.ts'

interface Reports {
  agents: AgentInsights
  flow: FlowInsights
  deliveries: DeliveryInsights
}
export type Report = keyof Reports
export type Filters = Readonly<Record<string, string>>

/** Not through the API client: its routes would be part of every screen. */
async function read(path: string, query: Filters = {}): Promise<Response> {
  const headers = { 'x-workspace-id': currentWorkspaceId() ?? '' }
  const response = await fetch(`${api.baseUrl}/insights/${path}?${new URLSearchParams(query)}`, { headers })
  if (!response.ok) throw refusalOf(response.status, response.headers, await response.text(), new Date())
  return response
}

/** Figures are counted every few minutes, for the first time within two. */
const often = {
  staleTime: 60_000,
  refetchInterval: ({ state: { data } }: { state: { data?: unknown } }) =>
    (data as { as_of?: string | null } | undefined)?.as_of === null ? 15_000 : 5 * 60_000,
}

export const reportQuery = <Name extends Report>(report: Name, filters: Filters = {}) =>
  queryOptions({
    queryKey: ['insights', report, filters],
    queryFn: async (): Promise<Reports[Name]> => (await read(report, filters)).json(),
    ...often,
  })

export const burnUpQuery = (cycleId: string) =>
  queryOptions({
    queryKey: ['insights', 'cycle', cycleId],
    queryFn: async (): Promise<CycleInsights> => (await read(`cycles/${encodeURIComponent(cycleId)}`)).json(),
    ...often,
  })

export const readCsv = async (report: 'agents' | 'flow', filters: Filters) =>
  (await read(`${report}/export`, filters)).blob()
