import type { AgentInsights, DeliveryInsights, FlowInsights } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

interface Reports {
  agents: AgentInsights
  flow: FlowInsights
  deliveries: DeliveryInsights
}
export type Report = keyof Reports
export type Filters = Readonly<Record<string, string>>

const reads: { [Name in Report]: (filters: Filters) => Promise<Reports[Name]> } = {
  agents: (filters) => api.getAgentInsights(filters),
  flow: (filters) => api.getFlowInsights(filters),
  deliveries: () => api.getDeliveryInsights(),
}

/** Figures are counted every few minutes, for the first time within two. */
const often = {
  staleTime: 60_000,
  refetchInterval: ({ state: { data } }: { state: { data?: unknown } }) =>
    (data as { as_of?: string | null } | undefined)?.as_of === null ? 15_000 : 5 * 60_000,
}

export const reportQuery = <Name extends Report>(report: Name, filters: Filters = {}) =>
  queryOptions({ queryKey: ['insights', report, filters], queryFn: () => reads[report](filters), ...often })

export const burnUpQuery = (cycleId: string) =>
  queryOptions({
    queryKey: ['insights', 'cycle', cycleId],
    queryFn: () => api.getCycleInsights({ cycle_id: cycleId }),
    ...often,
  })

export async function readCsv(report: 'agents' | 'flow', filters: Filters) {
  const text = await (report === 'agents' ? api.exportAgentInsights(filters) : api.exportFlowInsights(filters))
  return new Blob([text as string], { type: 'text/csv' })
}
