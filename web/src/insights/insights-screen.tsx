import './insights.css'
import type { InsightPeriodLength } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Download, X } from 'lucide-react'
import { agentsQuery } from '../data/agents.ts'
import { readCsv, reportQuery } from '../data/insights.ts'
import { useMe } from '../data/me.ts'
import { useTeams } from '../data/workspaces.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { DateButton } from '../ui/date-button.tsx'
import { download } from '../ui/download.ts'
import { Select } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { messageOf } from '../ui/problem.ts'
import { showToast } from '../ui/toast.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { AgentReport } from './agent-report.tsx'
import { DeliveryReport } from './delivery-report.tsx'
import { FlowReport } from './flow-report.tsx'
import { filtersOf, type InsightSearch, parseInsightSearch, type Tab, tabs } from './search.ts'

const labels: Record<Tab, string> = { agents: 'Agents', flow: 'Flow', deliveries: 'Deliveries' }

/** How agents, issues and deliveries did over time. Members see flow only. */
export function InsightsScreen() {
  const { isManager } = useMe()
  const search = parseInsightSearch(useSearch({ strict: false }))
  const tab = search.tab ?? (isManager ? 'agents' : 'flow')
  const filters = filtersOf(search, tab)
  const page = (
    <Page
      title="Insights"
      actions={tab !== 'deliveries' && <ExportButton report={tab} filters={filters} />}
      below={
        <>
          {isManager && <Tabs current={tab} search={search} />}
          {tab !== 'deliveries' && <FilterBar tab={tab} search={search} />}
        </>
      }
    >
      <div className="chart-page">
        <Printed tab={tab} search={search} />
        {tab === 'agents' ? <Agents filters={filters} /> : tab === 'flow' ? <Flow filters={filters} /> : <Deliveries />}
      </div>
    </Page>
  )
  return tab === 'flow' ? (
    page
  ) : (
    <ManagersOnly title="Insights" reason="Figures of agents and deliveries are for those who manage them.">
      {page}
    </ManagersOnly>
  )
}

type Filters = Record<string, string>
const Agents = ({ filters }: { filters: Filters }) => (
  <Loaded query={useQuery(reportQuery('agents', filters))}>{(report) => <AgentReport report={report} />}</Loaded>
)
const Flow = ({ filters }: { filters: Filters }) => (
  <Loaded query={useQuery(reportQuery('flow', filters))}>{(report) => <FlowReport report={report} />}</Loaded>
)
const Deliveries = () => (
  <Loaded query={useQuery(reportQuery('deliveries'))}>{(report) => <DeliveryReport report={report} />}</Loaded>
)

const Tabs = ({ current, search }: { current: Tab; search: InsightSearch }) => (
  <nav aria-label="Insights" className="flex gap-1 px-3 pb-1.5">
    {tabs.map((tab) => (
      <Link
        key={tab}
        to="/insights"
        search={{ ...search, tab } as never}
        aria-current={tab === current ? 'page' : undefined}
        className={cx('rounded px-2 py-0.5', tab === current ? 'bg-hover font-medium' : 'text-ink-2 hover:bg-hover')}
      >
        {labels[tab]}
      </Link>
    ))}
  </nav>
)

const lengths: Record<InsightPeriodLength, string> = { day: 'By day', week: 'By week', month: 'By month' }

/** The day in UTC, as figures are counted. */
const dayBefore = (day: string | Date, days: number) =>
  new Date(new Date(day).getTime() - days * 86_400_000).toISOString().slice(0, 10)

/** The first and the last day that the filters choose. */
const daysOf = ({ from, to = dayBefore(new Date(), 0) }: InsightSearch) => ({ from: from ?? dayBefore(to, 89), to })

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })

/** The title, dates and filters, on paper only. */
function Printed({ tab, search }: { tab: Tab; search: InsightSearch }) {
  const teams = useTeams()
  const { data: agents = [] } = useQuery({ ...agentsQuery, enabled: tab === 'agents' })
  const { from, to } = daysOf(search)
  const agent =
    search.agent_id === 'personal' ? 'Personal agents' : agents.find(({ id }) => id === search.agent_id)?.display_name
  const parts = [
    dayFormat.formatRange(new Date(from), new Date(to)),
    lengths[search.by ?? 'week'].toLowerCase(),
    teams.find(({ id }) => id === search.team_id)?.name ?? 'all teams',
    ...(tab === 'agents' ? [agent ?? 'all agents'] : []),
  ]
  return (
    <div className="insight-print">
      <p className="text-lg font-semibold">Insights: {labels[tab]}</p>
      <p>{tab === 'deliveries' ? `30 days until ${dayFormat.format(new Date())}` : parts.join(', ')}</p>
    </div>
  )
}

function FilterBar({ tab, search }: { tab: Tab; search: InsightSearch }) {
  const navigate = useNavigate()
  const teams = useTeams()
  const { data: agents = [] } = useQuery({ ...agentsQuery, enabled: tab === 'agents' })
  const choose = (change: Record<string, string | undefined>) =>
    void navigate({
      to: '/insights',
      search: Object.fromEntries(Object.entries({ ...search, ...change }).filter(([, value]) => value)) as never,
      replace: true,
    })
  const { tab: _, ...filters } = search
  const { from, to } = daysOf(search)
  return (
    <search aria-label="Filters" className="insight-filters">
      <div className="insight-date">
        <DateButton label="From" day={from} onChange={(from) => choose({ from })} />
      </div>
      <div className="insight-date">
        <DateButton label="To" day={to} onChange={(to) => choose({ to })} />
      </div>
      <Select
        aria-label="Period"
        className="w-auto"
        value={search.by ?? 'week'}
        onChange={({ target }) => choose({ by: target.value === 'week' ? undefined : target.value })}
      >
        {Object.entries(lengths).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Team"
        className="w-auto"
        value={search.team_id ?? ''}
        onChange={({ target }) => choose({ team_id: target.value })}
      >
        <option value="">All teams</option>
        {teams.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      {tab === 'agents' && (
        <Select
          aria-label="Agent"
          className="w-auto"
          value={search.agent_id ?? ''}
          onChange={({ target }) => choose({ agent_id: target.value })}
        >
          <option value="">All agents</option>
          <option value="personal">Personal agents</option>
          {agents
            .filter(({ agent_kind }) => agent_kind !== 'personal')
            .map(({ id, display_name }) => (
              <option key={id} value={id}>
                {display_name}
              </option>
            ))}
        </Select>
      )}
      {Object.keys(filters).length > 0 && (
        <Button
          look="quiet"
          icon={X}
          onClick={() => choose(Object.fromEntries(Object.keys(filters).map((key) => [key, undefined])))}
        >
          Clear
        </Button>
      )}
    </search>
  )
}

function ExportButton({ report, filters }: { report: 'agents' | 'flow'; filters: Filters }) {
  const { run, busy } = useAction(
    async () => download(`${report}.csv`, await readCsv(report, filters)),
    (error) => showToast(messageOf(error)),
  )
  return (
    <Button icon={Download} busy={busy} onClick={() => void run()}>
      Export CSV
    </Button>
  )
}
