import type { Issue, NewSuggestion } from '@baton/protocol'

/** The fields of a similar issue that the agent compares. */
export interface SimilarIssue {
  code: string
  type: Issue['type']
  priority: Issue['priority']
  labels: { id: string; name: string }[]
}

/** How many of the most similar issues are compared, and how many of them have to agree (triage.built-in). */
export const similarCompared = 5
const agreeing = 3

/** What most of the similar issues have and this one has not. */
export function suggestFields(
  issue: Pick<Issue, 'type' | 'priority' | 'label_ids'>,
  similar: readonly SimilarIssue[],
): NewSuggestion[] {
  const compared = similar.slice(0, similarCompared)
  const agreed = (field: NewSuggestion['field'], values: (one: SimilarIssue) => string[]): NewSuggestion[] =>
    [...new Set(compared.flatMap(values))].sort().flatMap((value) => {
      const codes = compared.filter((one) => values(one).includes(value)).map(({ code }) => code)
      return codes.length >= agreeing ? [{ field, value, reason: `Similar issues have it: ${codes.join(', ')}.` }] : []
    })
  const has: Partial<Record<NewSuggestion['field'], readonly string[]>> = {
    type: [issue.type],
    priority: [issue.priority, 'no_priority'],
    label: issue.label_ids,
  }
  return [
    ...agreed('type', ({ type }) => [type]),
    ...agreed('priority', ({ priority }) => [priority]),
    ...agreed('label', ({ labels }) => labels.map(({ id }) => id)),
  ].filter(({ field, value }) => !has[field]?.includes(value))
}

/** The suggestions as one line of the answer. */
export function describeSuggestions(suggestions: readonly NewSuggestion[], similar: readonly SimilarIssue[]): string[] {
  const names = new Map(similar.flatMap(({ labels }) => labels).map(({ id, name }) => [id, name]))
  return suggestions.map(({ field, value, reason }) => `${field} **${names.get(value) ?? value}**. ${reason}`)
}
