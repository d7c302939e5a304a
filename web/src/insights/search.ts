import type { InsightPeriodLength } from '@baton/protocol'

export const tabs = ['agents', 'flow', 'deliveries'] as const
export type Tab = (typeof tabs)[number]

/** The tab and the filters of insights, kept in the URL. */
export interface InsightSearch {
  tab?: Tab
  from?: string
  to?: string
  by?: InsightPeriodLength
  team_id?: string
  agent_id?: string
}

const day = /^\d{4}-\d\d-\d\d$/
const lengths = ['day', 'week', 'month'] as const

/** Values that the API would refuse for their form are left out, so that an old or mistyped address shows a report. */
export function parseInsightSearch(search: Record<string, unknown>): InsightSearch {
  const text = (key: string, pattern = /^\w+$/) => {
    const value = search[key]
    return typeof value === 'string' && pattern.test(value) ? { [key]: value } : {}
  }
  const tab = tabs.find((one) => one === search.tab)
  const by = lengths.find((one) => one === search.by)
  return {
    ...(tab && { tab }),
    ...text('from', day),
    ...text('to', day),
    ...(by && { by }),
    ...text('team_id'),
    ...text('agent_id'),
  }
}

/** The filters that a report takes. */
export function filtersOf({ tab: _, ...filters }: InsightSearch, tab: Tab): Record<string, string> {
  const { agent_id, ...others } = filters
  if (tab === 'deliveries') return {}
  return tab === 'agents' ? { ...filters } : others
}
