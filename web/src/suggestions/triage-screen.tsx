import type { Suggestion, TriagedIssue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Check, ListChecks, X } from 'lucide-react'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { triageQuery, useLive } from '../data/reviews.ts'
import { useTeams } from '../data/workspaces.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { Select } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { useSuggestionWords } from './words.ts'

/** Issues with suggestions of agents, newest first. */
export function TriageScreen() {
  const { team_id } = useSearch({ from: '/person/inside/triage' })
  const teams = useTeams()
  const navigate = useNavigate()
  const triage = useQuery(triageQuery(team_id))
  useLive('triage')
  return (
    <Page
      title="Triage"
      actions={
        <Select
          aria-label="Team"
          className="w-44"
          value={team_id ?? ''}
          onChange={({ target: { value } }) =>
            void navigate({ to: '/triage', search: value ? { team_id: value } : {}, replace: true })
          }
        >
          <option value="">All teams</option>
          {teams.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      }
    >
      <Loaded query={triage}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon={ListChecks} title="Nothing to triage">
              Changes that agents suggest for issues appear here. Nothing changes until a person accepts it.
            </Empty>
          ) : (
            <TriageList rows={data} />
          )
        }
      </Loaded>
    </Page>
  )
}

const numbers = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

function TriageList({ rows }: { rows: TriagedIssue[] }) {
  const { list, at } = useRows('issue')
  const active = rows.find(({ issue }) => issue.id === at) ?? rows[0]
  // Suggestions that the person excluded; all others are chosen.
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) =>
    setExcluded((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  const decide = useAction(
    async ({ issue, suggestions }: TriagedIssue, how: 'accept' | 'decline') => {
      const chosen = suggestions.filter(({ id }) => !excluded.has(id)).map(({ id }) => id)
      if (chosen.length === 0) return
      await api.decideSuggestions({ issue_id: issue.id, [how]: chosen })
      showToast(`${issue.code}: ${how === 'accept' ? 'accepted' : 'declined'}`)
      await queries.invalidateQueries({ queryKey: ['triage'] })
    },
    (error) => {
      showError(error)
      void queries.invalidateQueries({ queryKey: ['triage'] })
    },
  )
  const run = (how: 'accept' | 'decline') => {
    if (active) void decide.run(active, how)
  }
  useCommands([
    { id: 'triage.accept', title: 'Accept suggestions', section: 'Issue', keys: 'y', run: () => run('accept') },
    { id: 'triage.decline', title: 'Decline suggestions', section: 'Issue', keys: 'n', run: () => run('decline') },
    ...numbers.map((key, index) => ({
      id: `triage.toggle-${key}`,
      title: `Toggle suggestion ${key}`,
      section: 'Issue' as const,
      keys: key,
      hidden: true,
      run: () => {
        const one = active?.suggestions[index]
        if (one) toggle(one.id)
      },
    })),
  ])
  return (
    <ul {...list} aria-label="Issues to triage" className="divide-y">
      {rows.map((row) => (
        <li key={row.issue.id} className={cx('space-y-2 px-4 py-3', rowItem)}>
          <div className="flex flex-wrap items-center gap-2">
            <Link
              to="/issue/$code"
              params={{ code: row.issue.code }}
              data-row={row.issue.id}
              className="min-w-0 flex-1 basis-40 truncate outline-none"
            >
              <span className="text-ink-2">{row.issue.code}</span>{' '}
              <span className="font-medium">{row.issue.title}</span>
            </Link>
            <div className="flex gap-2">
              <Button
                size="sm"
                icon={X}
                aria-label={`Decline suggestions for ${row.issue.code}`}
                {...(row === active && { command: 'triage.decline' })}
                onClick={() => void decide.run(row, 'decline')}
              >
                Decline
              </Button>
              <Button
                size="sm"
                look="primary"
                icon={Check}
                aria-label={`Accept suggestions for ${row.issue.code}`}
                {...(row === active && { command: 'triage.accept' })}
                onClick={() => void decide.run(row, 'accept')}
              >
                Accept
              </Button>
            </div>
          </div>
          {/* Not a list: the rows of the screen are its items. */}
          <div className="flex flex-wrap gap-2">
            {row.suggestions.map((suggestion, index) => (
              <Choice
                key={suggestion.id}
                suggestion={suggestion}
                number={index + 1}
                chosen={!excluded.has(suggestion.id)}
                onToggle={() => toggle(suggestion.id)}
              />
            ))}
          </div>
        </li>
      ))}
    </ul>
  )
}

interface ChoiceProps {
  suggestion: Suggestion
  number: number
  chosen: boolean
  onToggle: () => void
}

function Choice({ suggestion, number, chosen, onToggle }: ChoiceProps) {
  const words = useSuggestionWords()
  const { field, value } = words(suggestion)
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onToggle}
      className={cx(
        'max-w-[min(28rem,100%)] rounded border px-2.5 py-1 text-left hover:bg-hover',
        chosen ? 'bg-surface' : 'border-dashed text-ink-2 line-through',
      )}
    >
      <span className="flex items-center gap-1.5">
        <span aria-hidden className="tabular text-xs text-ink-3">
          {number}
        </span>
        <span className="shrink-0 text-ink-2">{field}</span>
        <bdi className="min-w-0 truncate font-medium">{value}</bdi>
      </span>
      <span className="block text-xs text-ink-2">
        <bdi>{suggestion.agent.name}</bdi>: {suggestion.reason}
      </span>
    </button>
  )
}
