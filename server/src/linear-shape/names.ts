import type { IssueStatus, Priority, Project } from '@baton/protocol'
import { mentionPattern } from '@baton/protocol/mentions'

// Linear's names and numbers for values of ours.

export const priorities: Record<Priority, { number: number; label: string }> = {
  no_priority: { number: 0, label: 'No priority' },
  urgent: { number: 1, label: 'Urgent' },
  high: { number: 2, label: 'High' },
  medium: { number: 3, label: 'Medium' },
  low: { number: 4, label: 'Low' },
}

export const priorityOf = (number: unknown): Priority | undefined =>
  (Object.keys(priorities) as Priority[]).find((name) => priorities[name].number === number)

/** Apps may set in_progress, so it is the first state of the type that agents look for. */
export const states: Record<IssueStatus, { name: string; type: string; color: string }> = {
  backlog: { name: 'Backlog', type: 'backlog', color: '#8b8f98' },
  todo: { name: 'Todo', type: 'unstarted', color: '#6b7280' },
  in_progress: { name: 'In Progress', type: 'started', color: '#d97706' },
  qa: { name: 'QA', type: 'started', color: '#7c3aed' },
  release: { name: 'Release', type: 'started', color: '#2563eb' },
  done: { name: 'Done', type: 'completed', color: '#16a34a' },
}

/** A branch of an issue: its code and title in characters that every system allows. */
export const branchName = (code: string, title: string) => slug(`${code} ${title}`).slice(0, 80).replace(/-+$/, '')

export const slug = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** Linear shows a mention as a name. */
export const readable = (text: string) => text.replace(mentionPattern, '@$1')

/** By characters, as our limits count. */
export const truncated = (text: string, length: number) => {
  const characters = Array.from(text)
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text
}

/** `url_host` to `urlHost`, in all keys of the value. */
export const camelCased = (value: unknown): unknown =>
  withKeys(value, (key) => key.replace(/_([a-z])/g, (_, c) => c.toUpperCase()))

/** `urlHost` to `url_host`. */
export const snakeCased = (value: unknown): unknown =>
  withKeys(value, (key) => key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`))

function withKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), withKeys(item, rename)]))
}
const projectStates: Record<Project['status'], string> = {
  idea: 'backlog',
  discovery: 'backlog',
  proposal: 'backlog',
  accepted: 'planned',
  ready: 'planned',
  in_progress: 'started',
  paused: 'paused',
  maintenance: 'started',
  completed: 'completed',
  canceled: 'canceled',
}

/** Linear has fewer states of projects. */
export const projectStateOf = (status: Project['status']) => projectStates[status]
