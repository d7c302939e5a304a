import { Plus } from 'lucide-react'
import { api, cachedOrRead, queries } from '../../data/api.ts'
import { knownIssue } from '../../data/issues.ts'
import { labelsQuery } from '../../data/planning.ts'
import { LabelDot } from '../../planning/label-dot.tsx'
import type { Option } from '../../ui/picker.tsx'
import { showError } from '../../ui/toast.tsx'
import { editIssues } from './edit.ts'

export const matching = (options: Option[], query: string) => {
  const wanted = query.trim().toLowerCase()
  return options.filter(({ label }) => label.toLowerCase().includes(wanted))
}

export async function labelOptions(query: string): Promise<Option[]> {
  const labels = await cachedOrRead(labelsQuery)
  const options = [...labels]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> }))
  const name = query.trim()
  const isNew = name && !labels.some((label) => label.name.toLowerCase() === name.toLowerCase())
  return [
    ...matching(options, query),
    ...(isNew ? [{ value: `new ${name}`, label: `Create label “${name}”`, icon: <Plus size={14} aria-hidden /> }] : []),
  ]
}

/** Colours that can be told apart on paper and on charcoal. */
const colors = ['#d73a4a', '#1f6feb', '#8250df', '#0e8a16', '#bf8700', '#0891b2', '#c2410c', '#be185d']

export async function toggleLabel(issueId: string, value: string) {
  try {
    const id = await labelId(value)
    const now = knownIssue(issueId)?.label_ids ?? []
    const label_ids = now.includes(id) ? now.filter((one) => one !== id) : [...now, id]
    await editIssues([issueId], { label_ids }, 'Labels changed.')
  } catch (error) {
    showError(error)
  }
}

/** The label that was picked, made first if it is new. */
export async function labelId(picked: string): Promise<string> {
  if (!picked.startsWith('new ')) return picked
  const known = await cachedOrRead(labelsQuery)
  const label = await api.createLabel({ name: picked.slice(4), color: colors[known.length % colors.length] ?? null })
  queries.setQueryData(labelsQuery.queryKey, [...known, label])
  return label.id
}
