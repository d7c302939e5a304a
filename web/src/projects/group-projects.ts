import type { Initiative, Issue, Project } from '@baton/protocol'
import { listOrder } from './values.tsx'

export interface Group {
  key: string
  projects: Project[]
}

export const noInitiative = 'none'

/** By target date, then by title. */
const byTargetDate = (a: Project, b: Project) =>
  (a.target_date ?? '9').localeCompare(b.target_date ?? '9') || a.title.localeCompare(b.title)

/** Non-empty groups: statuses with active work first, initiatives by name. */
export function groupsOf(
  projects: readonly Project[],
  by: 'status' | 'initiative',
  initiatives: readonly Initiative[],
) {
  const ids = [...initiatives].sort((a, b) => a.name.localeCompare(b.name)).map(({ id }) => id)
  const keys: string[] = by === 'status' ? listOrder : [...ids, noInitiative]
  const keyOf = ({ status, initiative_id }: Project) =>
    by === 'status' ? status : initiative_id && ids.includes(initiative_id) ? initiative_id : noInitiative
  return keys
    .map((key): Group => ({ key, projects: projects.filter((one) => keyOf(one) === key).sort(byTargetDate) }))
    .filter(({ projects }) => projects.length > 0)
}

export interface Count {
  total: number
  done: number
}

/** Issues per project. As in its progress, private issues count only in private projects. */
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

export const issueCount = (count: number) => (count === 1 ? '1 issue' : `${count} issues`)
