import type { IssueChangeRecord, Project } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { FeedItem } from '../../comments/comments.tsx'
import { readAll } from '../../data/api.ts'
import { knownIssue } from '../../data/issues.ts'
import { cyclesQuery, labelsQuery, milestonesQuery } from '../../data/planning.ts'
import { projectsQuery } from '../../data/projects.ts'
import { usePeople, useTeams } from '../../data/workspaces.ts'
import { dayOf } from '../../ui/day.ts'
import { Time } from '../../ui/time.tsx'
import { priorityLabel, statusLabel, typeLabel } from '../fields/words.tsx'

const historyQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['history', issueId],
    queryFn: () => readAll('listIssueHistory', { issue_id: issueId }, 300),
  })

type Change = { from: unknown; to: unknown }
type Names = (
  kind: 'person' | 'agent' | 'team' | 'project' | 'milestone' | 'cycle' | 'label' | 'issue',
  id: unknown,
) => string

const idsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** What a list gained and lost, in words. */
function listWords({ from, to }: Change, gained: string, lost: string, name: (id: string) => string): string[] {
  const before = idsOf(from)
  const after = idsOf(to)
  const news = after.filter((id) => !before.includes(id)).map(name)
  const gone = before.filter((id) => !after.includes(id)).map(name)
  return [
    ...(news.length > 0 ? [`${gained} ${news.join(', ')}`] : []),
    ...(gone.length > 0 ? [`${lost} ${gone.join(', ')}`] : []),
  ]
}

/** What happened to a field, after the name of who did it. Fields that follow from others say nothing. */
const words: Record<string, (change: Change, name: Names) => string | string[]> = {
  title: ({ to }) => `renamed it to “${to}”`,
  description: () => 'changed the description',
  status: ({ from, to }) => `moved it from ${statusLabel(String(from))} to ${statusLabel(String(to))}`,
  priority: ({ to }) => `set the priority to ${priorityLabel(String(to))}`,
  type: ({ to }) => `made it a ${typeLabel(String(to)).toLowerCase()}`,
  assignee_id: ({ from, to }, name) =>
    to ? `assigned it to ${name('person', to)}` : `took it from ${name('person', from)}`,
  delegate_id: ({ from, to }, name) =>
    to ? `delegated it to ${name('agent', to)}` : `took it back from ${name('agent', from)}`,
  team_id: ({ to }, name) => (to ? `moved it to the team ${name('team', to)}` : 'took it out of its team'),
  code: ({ from, to }) => `gave it the code ${to} in place of ${from}`,
  project_id: ({ from, to }, name) =>
    to ? `added it to ${name('project', to)}` : `took it out of ${name('project', from)}`,
  milestone_id: ({ to }, name) => (to ? `set the milestone ${name('milestone', to)}` : 'removed the milestone'),
  cycle_id: ({ to }, name) => (to ? `planned it for ${name('cycle', to)}` : 'took it out of its cycle'),
  parent_id: ({ to }, name) => (to ? `made it a sub-issue of ${name('issue', to)}` : 'made it stand by itself'),
  label_ids: (change, name) => listWords(change, 'labelled it', 'removed the label', (id) => name('label', id)),
  blocks_ids: (change, name) =>
    listWords(change, 'marked it as blocking', 'marked it as no longer blocking', (id) => name('issue', id)),
  blocked_by_ids: (change, name) =>
    listWords(change, 'marked it as blocked by', 'marked it as no longer blocked by', (id) => name('issue', id)),
  time_estimate: ({ to }) => (to === null ? 'removed the estimate' : `estimated ${to} h`),
  due_date: ({ to }) => (to ? `set the due date to ${dayOf(String(to))}` : 'removed the due date'),
  personal: ({ to }) => (to ? 'made it personal' : 'shared it'),
}

const sentence = (changes: IssueChangeRecord['changes'], name: Names) =>
  Object.entries(changes)
    .flatMap(([field, change]) => words[field]?.(change, name) ?? [])
    .join(', ')

function useNames(): Names {
  const people = usePeople()
  const teams = useTeams()
  const projects = useQuery(projectsQuery).data ?? []
  const milestones = useQuery(milestonesQuery).data ?? []
  const cycles = useQuery(cyclesQuery).data ?? []
  const labels = useQuery(labelsQuery).data ?? []
  const named = (list: { id: string; name: string }[], id: unknown, otherwise: string) =>
    list.find((one) => one.id === id)?.name ?? otherwise
  return (kind, id) => {
    switch (kind) {
      case 'person':
        return people.get(String(id))?.display_name ?? (people.size > 0 ? 'somebody who left' : '…')
      case 'agent':
        // Those of others, and those that are gone, are in no list.
        return people.get(String(id))?.display_name ?? (people.size > 0 ? 'an agent' : '…')
      case 'team':
        return named(teams, id, 'that is gone')
      case 'project':
        return projects.find((project: Project) => project.id === id)?.title ?? 'a project'
      case 'milestone':
        return named(milestones, id, 'that is gone')
      case 'cycle':
        return named(cycles, id, 'a cycle')
      case 'label':
        return named(labels, id, 'one that is gone')
      case 'issue':
        return knownIssue(String(id))?.code ?? 'another issue'
    }
  }
}

/** What was changed, as quiet lines for the feed. */
export function useHistory(issueId: string): FeedItem[] {
  const { data = [] } = useQuery(historyQuery(issueId))
  const name = useNames()
  return data.flatMap(({ id, actor, changes, created_at }) => {
    const said = sentence(changes, name)
    if (!said) return []
    return [
      {
        at: created_at,
        key: id,
        node: (
          <p className="px-3.5 text-xs text-ink-3">
            <span className="font-medium text-ink-2">{actor?.name ?? 'Somebody who left'}</span> {said}
            {' · '}
            <Time at={created_at} />
          </p>
        ),
      },
    ]
  })
}
