import type { ResourceType } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useAgents } from '../data/agents.ts'
import { labelsQuery } from '../data/planning.ts'
import { projectsQuery } from '../data/projects.ts'
import { usePeople } from '../data/workspaces.ts'
import type { Option } from '../ui/picker.tsx'
import { filterKeys, type Source, wordOf } from './filter-keys.ts'

/** A condition in words: "Issue status", "In progress or QA". */
export function useFilterText() {
  const optionsOf = useOptionsOf()
  return (type: ResourceType, key: string, values: readonly (string | null)[] = []) => {
    const { label, source, none } = filterKeys[type][key] ?? { label: key, source: [] }
    const names = new Map(optionsOf(source).map((option) => [option.value, option.label]))
    return {
      subject: `${type} ${label.toLowerCase()}`,
      values: values.map((one) => (one === null ? (none ?? 'none') : (names.get(one) ?? one))).join(' or '),
    }
  }
}

/** The options of a source, by name. */
export function useOptionsOf() {
  const people = usePeople()
  const agents = useAgents()
  const projects = useQuery(projectsQuery).data ?? []
  const labels = useQuery(labelsQuery).data ?? []
  return (source: Source): Option[] => {
    if (source === 'people') return [...people].map(([value, { display_name: label }]) => ({ value, label }))
    if (source === 'agents') return [...agents].map(([value, { display_name: label }]) => ({ value, label }))
    if (source === 'projects') {
      return projects.filter(({ personal }) => !personal).map(({ id: value, title: label }) => ({ value, label }))
    }
    if (source === 'labels') return labels.map(({ id: value, name: label }) => ({ value, label }))
    return source.map((value) => ({ value, label: wordOf(value) }))
  }
}
