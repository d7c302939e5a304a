import type { Project } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FolderKanban, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { useIssues } from '../data/issues.ts'
import { showOverlay } from '../data/overlay.ts'
import { initiativesQuery } from '../data/planning.ts'
import { forProject, useDirectory } from '../issues/fields/directory.ts'
import { nameOf } from '../issues/fields/field.tsx'
import { Button } from '../ui/button.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page } from '../ui/layout.tsx'
import { useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { useProjects } from './edit-project.ts'
import { useProjectFieldMenu } from './field-menu.ts'
import { type ProjectField, projectFields } from './fields.tsx'
import { countsOf, type Group, groupsOf } from './group-projects.ts'
import { ProjectRow } from './project-row.tsx'
import { ProjectStatusIcon } from './values.tsx'

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
          A project collects the issues of one piece of work across teams and shows its progress.
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
  const directory = useDirectory(forProject)
  const headingOf = ({ key }: Group) => nameOf(projectFields[group], key, directory)
  const list = useListKeys(projects)
  return (
    <div {...list}>
      {groups.map((one) => (
        <section key={one.key} aria-label={headingOf(one)}>
          <h2 className="sticky top-0 z-10 flex h-8 items-center gap-2 border-b bg-sunken px-4 text-xs font-medium text-ink-2">
            <GroupIcon by={group} group={one} />
            {headingOf(one)}
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

const listFields = Object.values(projectFields).filter(({ inList }) => inList)

/** Moves between rows, and changes fields of the focused project. */
function useListKeys(projects: Project[]) {
  const openMenu = useProjectFieldMenu(useDirectory(forProject))
  const { list, at } = useRows('project')
  const current = projects.find(({ id }) => id === at)
  const open = (field: ProjectField) => () => {
    if (current) openMenu(field, document.querySelector(`[data-row="${current.id}"]`), current)
  }
  useCommands(
    listFields.map((field) => {
      const title = `Change ${field.label.toLowerCase()}`
      return {
        id: `project.${field.id}`,
        title: current ? `${title} of ${isolated(current.title)}` : title,
        section: 'Project' as const,
        ...(field.keys && { keys: field.keys }),
        hidden: !current,
        run: open(field),
      }
    }),
  )
  return list
}
