import type { Choice } from '@baton/protocol'
import type { LucideIcon } from 'lucide-react'
import { LabelDot } from '../../planning/label-dot.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import type { Option } from '../../ui/picker.tsx'
import type { Directory } from './directory.ts'
import { PriorityIcon, priorities } from './values.tsx'

// Options that fields of issues and projects share.

export const mark = (Icon: LucideIcon) => <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
export const byLabel = (a: Option, b: Option) => a.label.localeCompare(b.label)

export const personOption = ({ id, display_name, avatar_url, user_kind }: Choice, me: string): Option => ({
  value: id,
  label: display_name,
  icon: <Avatar name={display_name} src={avatar_url} agent={user_kind === 'application'} size={16} />,
  ...(id === me && { hint: 'you' }),
})

/** The signed-in user first, then by name. */
export function memberOptions({ people, me }: Pick<Directory, 'people' | 'me'>): Option[] {
  const members = [...people.values()].filter(({ user_kind }) => user_kind === 'human')
  return members
    .map((person) => personOption(person, me))
    .sort((a, b) => Number(b.value === me) - Number(a.value === me) || byLabel(a, b))
}

export const labelList = ({ labels }: Pick<Directory, 'labels'>): Option[] =>
  [...labels.values()]
    .map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> }))
    .sort(byLabel)

export const teamList = ({ teams }: Pick<Directory, 'teams'>): Option[] =>
  [...teams.values()].map(({ id, name, key }) => ({ value: id, label: name, hint: key }))

export const priorityOptions = priorities.map(({ value, label }) => ({
  value,
  label,
  icon: <PriorityIcon priority={value} />,
}))
