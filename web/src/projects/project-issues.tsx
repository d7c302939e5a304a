import type { Issue, Milestone, Project } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { Flag, ListTodo, Plus } from 'lucide-react'
import { useState } from 'react'
import { useIssuesWhere } from '../data/issues.ts'
import { showOverlay } from '../data/overlay.ts'
import { useMilestones } from '../data/projects.ts'
import { usePeople } from '../data/workspaces.ts'
import { editIssues } from '../issues/edit/edit.ts'
import { byPriority, PriorityIcon, priorityLabel, StatusIcon, statuses, statusLabel } from '../issues/fields/values.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button, buttonClass, IconButton } from '../ui/button.tsx'
import { isolated } from '../ui/isolated.ts'
import { none, orNull, usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Failed, Skeletons } from '../ui/states.tsx'
import { issueCount } from './group-projects.ts'
import { MilestoneForm, MilestoneHeading } from './milestones.tsx'
import { Progress } from './progress.tsx'

/** Issues shown per milestone; the list shows the rest. */
const mostShown = 40

/** Open issues first, the furthest status first, then by priority. */
const order = new Map(statuses.map(({ value }, index) => [value, index]))
const byProgress = (a: Issue, b: Issue) =>
  Number(a.status === 'done') - Number(b.status === 'done') ||
  (order.get(b.status) ?? 0) - (order.get(a.status) ?? 0) ||
  byPriority(a.priority, b.priority) ||
  a.sort_order - b.sort_order

/** The issues of a project by milestone, and its progress. */
export function ProjectIssues({ project }: { project: Project }) {
  const { issues, complete, error } = useIssuesWhere(({ project_id }) => project_id === project.id, [project.id])
  const milestones = useMilestones(project.id)
  const [adding, setAdding] = useState(false)
  const addIssue = (milestone?: Milestone) =>
    showOverlay({
      name: 'create-issue',
      with: {
        project_id: project.id,
        ...(milestone && { milestone_id: milestone.id }),
        ...(project.personal ? { personal: true } : project.team_ids[0] && { team_id: project.team_ids[0] }),
      },
    })
  useCommands([
    { id: 'create.issue', title: 'Add issue to project', section: 'Create', keys: 'c', run: () => addIssue() },
    { id: 'create.milestone', title: 'Add milestone', section: 'Create', keys: 'n m', run: () => setAdding(true) },
  ])
  const milestoneIds = new Set(milestones.map(({ id }) => id))
  const within = (milestone: Milestone | null) =>
    issues
      .filter(({ milestone_id }) => (milestone ? milestone_id === milestone.id : !milestoneIds.has(milestone_id ?? '')))
      .sort(byProgress)
  const withoutMilestone = within(null)
  return (
    <section aria-label="Issues" className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t pt-3">
        <h2 className="font-semibold">Issues</h2>
        <span className="tabular text-xs text-ink-3">{complete && issueCount(issues.length)}</span>
        {project.progress !== null && (
          <Progress percent={project.progress} label="Progress" className="min-w-24 flex-1 @xl:max-w-56" />
        )}
        <span className="ml-auto flex gap-1">
          {issues.length > 0 && (
            <Link to="/issues" search={{ project: project.id }} className={buttonClass('quiet', 'sm')}>
              <ListTodo size={14} aria-hidden />
              Open in list
            </Link>
          )}
          <Button size="sm" look="quiet" icon={Flag} onClick={() => setAdding(true)}>
            Add milestone
          </Button>
          <Button size="sm" icon={Plus} onClick={() => addIssue()}>
            Add issue
          </Button>
        </span>
      </div>
      {adding && <MilestoneForm projectId={project.id} onDone={() => setAdding(false)} />}
      {milestones.map((milestone) => (
        <section key={milestone.id} aria-label={milestone.name}>
          <MilestoneHeading milestone={milestone} issues={within(milestone)} onAdd={() => addIssue(milestone)} />
          <IssueRows issues={within(milestone)} project={project} milestones={milestones} />
        </section>
      ))}
      {withoutMilestone.length > 0 && (
        <section aria-label="No milestone">
          {milestones.length > 0 && <h3 className="flex h-8 items-center text-xs text-ink-3">No milestone</h3>}
          <IssueRows issues={withoutMilestone} project={project} milestones={milestones} />
        </section>
      )}
      {issues.length === 0 &&
        (error && !complete ? (
          <Failed error={error} />
        ) : complete ? (
          <p className="text-ink-3">
            No issues yet. Press <kbd className="font-sans font-medium text-ink-2">C</kbd> to create one.
          </p>
        ) : (
          <Skeletons rows={4} className="px-0" />
        ))}
    </section>
  )
}

function IssueRows({ issues, project, milestones }: { issues: Issue[]; project: Project; milestones: Milestone[] }) {
  return (
    <>
      <ul className="-mx-2">
        {issues.slice(0, mostShown).map((issue) => (
          <IssueRow key={issue.id} issue={issue} milestones={milestones} />
        ))}
      </ul>
      {issues.length > mostShown && (
        <Link to="/issues" search={{ project: project.id }} className="text-xs text-accent-ink underline">
          {issueCount(issues.length - mostShown)} more in the list
        </Link>
      )}
    </>
  )
}

function IssueRow({ issue, milestones }: { issue: Issue; milestones: Milestone[] }) {
  const assignee = usePeople().get(issue.assignee_id ?? '')
  const ask = usePicker()
  const move = (anchor: Element) =>
    ask(anchor, {
      title: 'Milestone',
      selected: [issue.milestone_id ?? none],
      options: [
        { value: none, label: 'No milestone' },
        ...milestones.map(({ id, name }) => ({ value: id, label: name })),
      ],
      onPick: (value, { label }) =>
        void editIssues([issue.id], { milestone_id: orNull(value) }, `${issue.code}: ${label}`),
    })
  return (
    <li className="group/row flex h-8 items-center gap-1 rounded hover:bg-hover">
      <Link
        to="/issue/$code"
        params={{ code: issue.code }}
        className="flex h-full min-w-0 flex-1 items-center gap-2 rounded px-2"
      >
        <PriorityIcon priority={issue.priority} />
        <StatusIcon status={issue.status} />
        <span className="sr-only">
          {priorityLabel(issue.priority)}, {statusLabel(issue.status)},
        </span>
        <span className="tabular w-14 shrink-0 text-xs text-ink-3">{issue.code}</span>
        <span className={`min-w-0 truncate ${issue.status === 'done' ? 'text-ink-3' : ''}`}>{issue.title}</span>
      </Link>
      {milestones.length > 0 && (
        <IconButton
          label={`Milestone of ${issue.code}`}
          icon={Flag}
          aria-haspopup="dialog"
          onClick={(event) => move(event.currentTarget)}
          className="opacity-0 group-hover/row:opacity-100 focus-visible:opacity-100"
        />
      )}
      <span className="mr-2 flex w-5 shrink-0 justify-center" title={assignee?.display_name}>
        {assignee && <Avatar name={assignee.display_name} src={assignee.avatar_url} size={20} />}
        <span className="sr-only">{assignee ? `assigned to ${isolated(assignee.display_name)}` : 'unassigned'}</span>
      </span>
    </li>
  )
}
