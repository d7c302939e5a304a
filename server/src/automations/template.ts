/** What placeholders are filled with. */
export interface Values {
  /** The day of the run, such as 2026-03-02. */
  day: string
  issue: { code: string; title: string; url: string } | null
  agentName: string
}

const filled: Record<string, (values: Values) => string> = {
  date: ({ day }) => day,
  week: ({ day }) => weekOf(day),
  month: ({ day }) => day.slice(0, 7),
  'issue.code': ({ issue }) => issue?.code ?? '',
  'issue.title': ({ issue }) => issue?.title ?? '',
  'issue.url': ({ issue }) => issue?.url ?? '',
  'agent.name': ({ agentName }) => agentName,
}

export const placeholders = Object.keys(filled).map((name) => `{{${name}}}`)

const pattern = /\{\{\s*([^{}]*?)\s*\}\}/g

/** The first placeholder that does not exist. */
export const unknownPlaceholder = (text: string): string | undefined =>
  [...text.matchAll(pattern)].find(([, name]) => !Object.hasOwn(filled, name as string))?.[0]

/** Fills a text. An inserted value can mention no user and link no file, because the text is the owner's. */
export const fill = (text: string, values: Values): string =>
  text.replace(pattern, (whole, name: string) => (Object.hasOwn(filled, name) ? inert(filled[name]?.(values)) : whole))

const inert = (value = '') => value.replaceAll('@[', '@ [').replaceAll('](', '] (')

/** The week of ISO 8601, such as 2026-W10. */
function weekOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  // The week belongs to the year of its Thursday.
  date.setUTCDate(date.getUTCDate() + 4 - (date.getUTCDay() || 7))
  const year = date.getUTCFullYear()
  const week = Math.ceil(((date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000 + 1) / 7)
  return `${year}-W${String(week).padStart(2, '0')}`
}
