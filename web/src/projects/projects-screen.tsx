import type { Project } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FolderKanban, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { useIssues } from '../data/issues.ts'
import { showOverlay } from '../data/overlay.ts'
import { initiativesQuery } from '../data/planning.ts'
import { Button } from '../ui/button.tsx'
import { Page } from '../ui/layout.tsx'
import { useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { countsOf, type Group, groupsOf, noInitiative } from './arrange.ts'
import { useChooseProject } from './choose.tsx'
import { useProjects } from './edit.ts'
import { ProjectRow } from './project-row.tsx'
import { ProjectStatusIcon, projectStatuses } from './words.tsx'

const create = () => showOverlay({ name: 'create-project' })

export function ProjectsScreen() {
  const { data, error, refetch } = useProjects()
  return (
    <Page
      title="Projects"
      actions={
        <>
          <GroupBy />
          <Button look="primary" icon={Plus} onClick={create} className="max-sm:hidden">
            New project
          </Button>
          <Button look="primary" icon={Plus} onClick={create} aria-label="New project" className="sm:hidden" />
        </>
      }
    >
      {!data ? (
        error ? (
          <Failed error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeletons rows={8} />
        )
      ) : data.length === 0 ? (
        <Empty
          icon={FolderKanban}
          title="No projects yet"
          action={
            <Button look="primary" icon={Plus} command="create.project" onClick={create}>
              New project
            </Button>
          }
        >
          A project gathers the issues of one piece of work, across teams, and shows how much of it is done.
        </Empty>
      ) : (
        <Groups />
      )}
    </Page>
  )
}

function GroupBy() {
  const { group } = useSearch({ from: '/person/inside/projects' })
  const navigate = useNavigate()
  const choose = (next: 'status' | 'initiative') =>
    void navigate({ to: '/projects', search: next === 'initiative' ? { group: next } : {}, replace: true })
  useCommands([
    { id: 'projects.by-status', title: 'Group by status', section: 'View', run: () => choose('status') },
    { id: 'projects.by-initiative', title: 'Group by initiative', section: 'View', run: () => choose('initiative') },
  ])
  return (
    <fieldset className="flex rounded border border-line-strong bg-surface p-px">
      <legend className="sr-only">Group by</legend>
      {(['status', 'initiative'] as const).map((by) => (
        <button
          key={by}
          type="button"
          aria-pressed={(group ?? 'status') === by}
          onClick={() => choose(by)}
          className="h-7 rounded-sm px-2 text-xs text-ink-2 capitalize hover:text-ink aria-pressed:bg-hover aria-pressed:font-medium aria-pressed:text-ink"
        >
          {by}
        </button>
      ))}
    </fieldset>
  )
}

function Groups() {
  const { data: projects = [] } = useProjects()
  const { group = 'status' } = useSearch({ from: '/person/inside/projects' })
  const { data: initiatives = [] } = useQuery(initiativesQuery)
  const { issues, complete } = useIssues()
  const counts = useMemo(() => countsOf(issues, projects), [issues, projects])
  const groups = useMemo(() => groupsOf(projects, group, initiatives), [projects, group, initiatives])
  const nameOf = ({ key }: Group) =>
    group === 'status'
      ? (projectStatuses.find(({ value }) => value === key)?.label ?? key)
      : key === noInitiative
        ? 'No initiative'
        : (initiatives.find(({ id }) => id === key)?.name ?? key)
  const list = useListKeys(projects)
  return (
    <div {...list}>
      {groups.map((one) => (
        <section key={one.key} aria-label={nameOf(one)}>
          <h2 className="sticky top-0 z-10 flex h-8 items-center gap-2 border-b bg-sunken px-4 text-xs font-medium text-ink-2">
            <GroupIcon by={group} group={one} />
            {nameOf(one)}
            <span className="tabular text-ink-3">{one.projects.length}</span>
          </h2>
          <ul>
            {one.projects.map((project) => (
              <ProjectRow
                key={project.id}
                project={project}
                count={complete ? (counts.get(project.id) ?? { total: 0, done: 0 }) : counts.get(project.id)}
                withStatus={group !== 'status'}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const GroupIcon = ({ by, group }: { by: 'status' | 'initiative'; group: Group }) => {
  const [first] = group.projects
  return by === 'status' && first ? <ProjectStatusIcon status={first.status} /> : null
}

/** From row to row, and the keys that change the project one is at. */
function useListKeys(projects: Project[]) {
  const choose = useChooseProject()
  const { list, at } = useRows('project')
  const current = projects.find(({ id }) => id === at)
  const ask = (question: 'status' | 'health' | 'priority' | 'lead') => () => {
    if (current) choose[question](document.querySelector(`[data-row="${current.id}"]`), current)
  }
  useCommands(
    (
      [
        ['status', 'Change status', 's'],
        ['health', 'Change health', 'h'],
        ['priority', 'Change priority', 'p'],
        ['lead', 'Change lead', 'a'],
      ] as const
    ).map(([question, title, keys]) => ({
      id: `project.${question}`,
      title: current ? `${title} of ${current.title}` : title,
      section: 'Project' as const,
      keys,
      hidden: !current,
      run: ask(question),
    })),
  )
  return list
}
