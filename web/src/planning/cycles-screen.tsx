import type { Cycle, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChartLine, CircleCheckBig, Ellipsis, Pencil, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { cyclesQuery } from '../data/planning.ts'
import { teamsQuery } from '../data/workspaces.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Menu } from '../ui/menu.tsx'
import { Pill } from '../ui/pill.tsx'
import { Empty } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { CloseCycle } from './close-cycle.tsx'
import { CycleForm } from './cycle-form.tsx'
import { inOrder, stateOfCycle } from './cycle-state.ts'

type Doing = { what: 'create'; team: Team } | { what: 'burn-up' | 'edit' | 'close' | 'delete'; cycle: Cycle }

const CycleBurnUp = lazy(() => import('./cycle-burn-up.tsx'))

/** The cycles of every team. */
export function CyclesScreen() {
  const teams = useQuery(teamsQuery)
  const cycles = useQuery(cyclesQuery)
  const [doing, setDoing] = useState<Doing | null>(null)
  const close = () => setDoing(null)
  return (
    <Page title="Cycles" width="reading">
      <Loaded query={teams}>
        {(teams) =>
          teams.length === 0 ? (
            <Empty icon={RefreshCw} title="No teams yet">
              A cycle is a stretch of a team's time, such as two weeks, that issues are planned into.
            </Empty>
          ) : (
            <Loaded query={cycles}>
              {(cycles) => (
                <>
                  {teams.map((team) => (
                    <TeamCycles
                      key={team.id}
                      team={team}
                      cycles={inOrder(cycles.filter(({ team_id }) => team_id === team.id))}
                      onDo={setDoing}
                    />
                  ))}
                </>
              )}
            </Loaded>
          )
        }
      </Loaded>
      {doing?.what === 'create' && <CycleForm teamId={doing.team.id} cycles={cycles.data ?? []} onClose={close} />}
      {doing?.what === 'burn-up' && (
        <Suspense>
          <CycleBurnUp cycle={doing.cycle} onClose={close} />
        </Suspense>
      )}
      {doing?.what === 'edit' && (
        <CycleForm teamId={doing.cycle.team_id} cycles={cycles.data ?? []} cycle={doing.cycle} onClose={close} />
      )}
      {doing?.what === 'close' && (
        <CloseCycle
          cycle={doing.cycle}
          others={inOrder(cycles.data ?? []).filter(
            (other) =>
              other.team_id === doing.cycle.team_id && other.id !== doing.cycle.id && stateOfCycle(other) !== 'closed',
          )}
          onClose={close}
        />
      )}
      <Confirm
        open={doing?.what === 'delete'}
        onClose={close}
        title={doing?.what === 'delete' ? `Delete ${isolated(doing.cycle.name)}?` : ''}
        action="Delete cycle"
        onConfirm={async () => {
          if (doing?.what !== 'delete') return
          await api.deleteCycle({ cycle_id: doing.cycle.id })
          await rereadKey('workspace', 'cycles')
          showToast(`${isolated(doing.cycle.name)} deleted`)
        }}
      >
        <p>Its issues stay in the team, without a cycle. This cannot be undone.</p>
      </Confirm>
    </Page>
  )
}

interface TeamProps {
  team: Team
  cycles: Cycle[]
  onDo: (doing: Doing) => void
}

const TeamCycles = ({ team, cycles, onDo }: TeamProps) => (
  <Section
    title={team.name}
    actions={
      <Button
        icon={Plus}
        aria-label={`New cycle of ${isolated(team.name)}`}
        onClick={() => onDo({ what: 'create', team })}
      >
        New cycle
      </Button>
    }
  >
    {cycles.length === 0 ? (
      <p className="text-ink-3">No cycles yet.</p>
    ) : (
      <Rows label={`Cycles of ${isolated(team.name)}`}>
        {cycles.map((cycle) => (
          <CycleRow key={cycle.id} cycle={cycle} teamKey={team.key} onDo={onDo} />
        ))}
      </Rows>
    )}
  </Section>
)

const labels = { current: 'Current', upcoming: 'Upcoming', closed: 'Closed' } as const

function CycleRow({ cycle, teamKey, onDo }: { cycle: Cycle; teamKey: string; onDo: TeamProps['onDo'] }) {
  const state = stateOfCycle(cycle)
  return (
    <li className="flex items-center gap-3 py-1.5 pr-2 pl-4">
      <RefreshCw size={14} aria-hidden className="shrink-0 text-ink-3" />
      <div className="flex min-w-0 flex-1 items-baseline gap-x-3 max-sm:flex-col">
        <Link
          to="/issues"
          search={{ team: teamKey, cycle: cycle.id }}
          className="min-w-0 truncate font-medium hover:underline max-sm:max-w-full sm:flex-1"
        >
          {cycle.name}
        </Link>
        <span className="tabular text-xs text-ink-3">{datesOf(cycle)}</span>
      </div>
      <span className="w-20 shrink-0">
        <Pill tone={state === 'current' ? 'ok' : 'neutral'}>{labels[state]}</Pill>
      </span>
      <Menu
        label={`Actions for ${isolated(cycle.name)}`}
        trigger={<IconButton label={`Actions for ${isolated(cycle.name)}`} icon={Ellipsis} />}
        items={[
          { label: 'Burn-up…', icon: ChartLine, onPick: () => onDo({ what: 'burn-up', cycle }) },
          { label: 'Edit cycle…', icon: Pencil, onPick: () => onDo({ what: 'edit', cycle }) },
          ...(state === 'closed'
            ? []
            : [{ label: 'Close cycle…', icon: CircleCheckBig, onPick: () => onDo({ what: 'close', cycle }) }]),
          null,
          { label: 'Delete cycle…', icon: Trash2, danger: true, onPick: () => onDo({ what: 'delete', cycle }) },
        ]}
      />
    </li>
  )
}

function datesOf({ starts_at, ends_at }: Cycle) {
  if (starts_at && ends_at) return `${dayOf(starts_at)} – ${dayOf(ends_at)}`
  if (starts_at) return `from ${dayOf(starts_at)}`
  return ends_at ? `until ${dayOf(ends_at)}` : 'no dates'
}
