import type { ImportMapping, ImportMappingChange, IssueStatus, IssueType, Priority } from '@baton/protocol'

/** Lower case, with single spaces in place of anything but letters and digits. */
export const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const byWord = <T>(table: Record<string, T>, words: Record<string, readonly string[]>) =>
  new Map(Object.entries(words).flatMap(([key, list]) => list.map((word) => [word, table[key] as T] as const)))

const self = <T extends string>(...values: T[]) =>
  Object.fromEntries(values.map((value) => [value, value])) as Record<string, T>

const statusWords = byWord<IssueStatus>(self('backlog', 'todo', 'in_progress', 'qa', 'release', 'done'), {
  backlog: ['backlog', 'triage', 'icebox', 'later', 'someday', 'inbox'],
  todo: [
    'todo',
    'to do',
    'open',
    'reopened',
    'new',
    'ready',
    'planned',
    'next',
    'selected for development',
    'unstarted',
  ],
  in_progress: ['in progress', 'inprogress', 'doing', 'started', 'active', 'wip', 'in development', 'working on it'],
  qa: [
    'qa',
    'in qa',
    'review',
    'in review',
    'code review',
    'testing',
    'in testing',
    'test',
    'ready for review',
    'verify',
  ],
  release: [
    'release',
    'ready for release',
    'ready to deploy',
    'ready to release',
    'staging',
    'deploying',
    'ready to merge',
  ],
  done: [
    'done',
    'closed',
    'complete',
    'completed',
    'resolved',
    'fixed',
    'finished',
    'shipped',
    'merged',
    'released',
    'deployed',
  ],
})

const categories = new Map<string, IssueStatus>(
  Object.entries({
    triage: 'backlog',
    backlog: 'backlog',
    unstarted: 'todo',
    started: 'in_progress',
    completed: 'done',
  }),
)

const canceledWords = new Set([
  'canceled',
  'cancelled',
  'wont do',
  'wont fix',
  'wontfix',
  'not planned',
  'not a bug',
  'invalid',
  'declined',
  'rejected',
  'abandoned',
  'obsolete',
  'cannot reproduce',
])

/** The label of an issue that was closed without being done (import.canceled-status). */
export function closedLabel(value: string | null | undefined): 'Canceled' | 'Duplicate' | null {
  if (!value) return null
  const word = plain(value)
  return word === 'duplicate' ? 'Duplicate' : canceledWords.has(word) ? 'Canceled' : null
}

export const proposeStatus = (value: string, category: string | null | undefined): IssueStatus | null =>
  statusWords.get(plain(value)) ??
  (closedLabel(value) || closedLabel(category) ? 'done' : (categories.get(plain(category ?? '')) ?? null))

const priorityWords = byWord<Priority>(self('no_priority', 'low', 'medium', 'high', 'urgent'), {
  no_priority: ['no priority', 'none', '0', 'unprioritized'],
  low: ['low', 'lowest', 'minor', 'trivial', 'p3', 'p4', '4'],
  medium: ['medium', 'normal', 'moderate', 'p2', '3'],
  high: ['high', 'major', 'important', 'p1', '2'],
  urgent: ['urgent', 'highest', 'critical', 'blocker', 'p0', '1'],
})
export const proposePriority = (value: string): Priority | null => priorityWords.get(plain(value)) ?? null

const typeWords = byWord<IssueType>(self('bug', 'feature', 'task', 'story'), {
  bug: ['bug', 'defect', 'incident', 'problem', 'error'],
  feature: ['feature', 'enhancement', 'new feature', 'improvement', 'feature request'],
  task: ['task', 'sub task', 'subtask', 'chore', 'spike', 'technical task'],
  story: ['story', 'user story', 'epic'],
})
export const proposeType = (value: string): IssueType | null => typeWords.get(plain(value)) ?? null

export const emptyMapping: ImportMapping = {
  default_team_id: null,
  teams: {},
  statuses: {},
  priorities: {},
  types: {},
  users: {},
  labels: {},
  columns: {},
  date_order: null,
  keep_codes: false,
  archived: true,
  hours_per_point: null,
}

/** Values of the source that a change does not name stay as they are. */
export function changeMapping<Before extends ImportMappingChange>(before: Before, change: ImportMappingChange): Before {
  const after = { ...before, ...change } as Record<string, unknown>
  for (const [field, value] of Object.entries(change)) {
    const old = before[field as keyof ImportMapping]
    if (isRecord(value) && isRecord(old)) after[field] = { ...old, ...value }
  }
  return after as unknown as Before
}

/** A value that the user chose stays, and those of an earlier proposal too. */
export const proposed = (chosen: ImportMappingChange, proposal: ImportMapping): ImportMapping =>
  changeMapping(proposal, {
    ...chosen,
    default_team_id: chosen.default_team_id ?? proposal.default_team_id,
    date_order: chosen.date_order ?? proposal.date_order,
  })

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A free key for a team that the import creates: the source's prefix, else letters of its name. */
export function newTeamKey(name: string, prefix: string | null, taken: ReadonlySet<string>): string {
  const letters = name
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^[0-9]+/, '')
  const base = prefix && /^[A-Z][A-Z0-9]{1,5}$/.test(prefix) ? prefix : letters.slice(0, 3).padEnd(2, 'X')
  if (!taken.has(base)) return base
  for (let number = 2; ; number++) {
    const key = `${base.slice(0, 6 - String(number).length)}${number}`
    if (!taken.has(key)) return key
  }
}

/** How users are named in the mapping. */
export const userValue = ({ name, email }: { name: string; email: string | null }) =>
  email ? email.toLowerCase() : name
