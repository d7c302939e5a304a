import type { Initiative, Issue, Project } from '@baton/protocol'
import { listOrder } from './words.tsx'

/** What the address of the projects screen says. By status unless something else is asked for. */
export interface ProjectSearch {
  group?: 'initiative'
}

export const parseProjectSearch = (search: Record<string, unknown>): ProjectSearch =>
  search.group === 'initiative' ? { group: 'initiative' } : {}

export interface Group {
  key: string
  projects: Project[]
}

export const noInitiative = 'none'

/** What is due first comes first, then by name. */
const bySooner = (a: Project, b: Project) =>
  (a.target_date ?? '9').localeCompare(b.target_date ?? '9') || a.title.localeCompare(b.title)

/** Groups that have projects, in order: statuses as work goes on, initiatives by name. */
export function groupsOf(
  projects: readonly Project[],
  by: 'status' | 'initiative',
  initiatives: readonly Initiative[],
) {
  const known = [...initiatives].sort((a, b) => a.name.localeCompare(b.name)).map(({ id }) => id)
  const keys: string[] = by === 'status' ? listOrder : [...known, noInitiative]
  const keyOf = ({ status, initiative_id }: Project) =>
    by === 'status' ? status : initiative_id && known.includes(initiative_id) ? initiative_id : noInitiative
  return keys
    .map((key): Group => ({ key, projects: projects.filter((one) => keyOf(one) === key).sort(bySooner) }))
    .filter(({ projects }) => projects.length > 0)
}

export interface Count {
  total: number
  done: number
}

/** How many issues each has, as its progress counts them: what is personal counts in personal projects alone. */
export function countsOf(issues: readonly Issue[], projects: readonly Project[]): ReadonlyMap<string, Count> {
  const personal = new Map(projects.map((project) => [project.id, project.personal]))
  const counts = new Map<string, Count>()
  for (const { project_id, personal: isPersonal, status } of issues) {
    if (!project_id || personal.get(project_id) === undefined || (isPersonal && !personal.get(project_id))) continue
    const count = counts.get(project_id) ?? { total: 0, done: 0 }
    count.total++
    if (status === 'done') count.done++
    counts.set(project_id, count)
  }
  return counts
}

export const issuesWord = (count: number) => (count === 1 ? '1 issue' : `${count} issues`)
