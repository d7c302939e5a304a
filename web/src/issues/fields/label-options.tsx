import { Plus } from 'lucide-react'
import { api, cachedOrRead, queries } from '../../data/api.ts'
import { labelsQuery } from '../../data/planning.ts'
import { nextLabelColor } from '../../planning/label-colors.ts'
import { LabelDot } from '../../planning/label-dot.tsx'
import { withSameName } from '../../planning/same-name.ts'
import type { Option } from '../../ui/picker.tsx'
import { matching } from './field.tsx'

/** Marks an option that creates its value when it is picked. */
const newPrefix = 'new '

/** The options that match, and one that creates the typed name if no option has it. */
export function orCreate(options: Option[], noun: string, query: string): Option[] {
  const name = query.trim()
  const exists = withSameName(
    options.map(({ label }) => ({ name: label })),
    name,
  )
  const created = {
    value: `${newPrefix}${name}`,
    label: `Create ${noun} “${name}”`,
    icon: <Plus size={14} aria-hidden />,
  }
  return [...matching(options, query), ...(name && !exists ? [created] : [])]
}

/** The picked option, or the one that is created with its name. */
export async function createIfNew(picked: Option, create: (name: string) => Promise<{ id: string; name: string }>) {
  if (!picked.value.startsWith(newPrefix)) return picked
  const { id, name } = await create(picked.value.slice(newPrefix.length))
  return { value: id, label: name }
}

export async function labelOptions(query: string): Promise<Option[]> {
  const labels = await cachedOrRead(labelsQuery)
  const options = [...labels]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> }))
  return orCreate(options, 'label', query)
}

export const createLabel = (picked: Option) =>
  createIfNew(picked, async (name) => {
    const labels = await cachedOrRead(labelsQuery)
    const label = await api.createLabel({ name, color: nextLabelColor(labels.length) })
    queries.setQueryData(labelsQuery.queryKey, [...labels, label])
    return label
  })
