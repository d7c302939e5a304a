import type { AuditEntry } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { appsQuery, installationsQuery } from '../data/agent-apps.ts'
import { webhooksQuery } from '../data/webhooks.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'

/** What the entry itself calls it. */
const toldBy = ({ details: { name, label, email, host } }: AuditEntry) =>
  [name, label, email, host].find((told) => typeof told === 'string' && told !== '') as string | undefined

/** Names by id: those that things have now, and of what is gone, those that the entries tell. */
export function useNames(entries: AuditEntry[]): ReadonlyMap<string, string> {
  const people = usePeople()
  const teams = useTeams()
  const apps = useQuery(appsQuery).data ?? []
  const installations = useQuery(installationsQuery).data ?? []
  const webhooks = useQuery(webhooksQuery).data ?? []
  const names = new Map<string, string>()
  for (const entry of entries) {
    if (entry.actor) names.set(entry.actor.id, entry.actor.name)
    const told = toldBy(entry)
    if (told) names.set(entry.subject_id, told)
  }
  for (const { id, display_name } of people.values()) names.set(id, display_name)
  for (const { id, name } of [...teams, ...apps]) names.set(id, name)
  for (const { id, label, url } of webhooks) names.set(id, label || new URL(url).host)
  const installed = [
    ...entries.map(({ subject_id, details }) => ({ id: subject_id, app_id: details.app_id })),
    ...installations,
  ]
  for (const { id, app_id } of installed) {
    const name = typeof app_id === 'string' && names.get(app_id)
    if (name) names.set(id, name)
  }
  return names
}

/** What the entry is about, by name. */
export function aboutWhat({ action, subject_id, details }: AuditEntry, names: ReadonlyMap<string, string>): string[] {
  // Who joined has been named already.
  if (action === 'member.joined') return []
  const ids = [subject_id, ...Object.values(details).flat()]
  return [...new Set(ids.flatMap((id) => (typeof id === 'string' && names.get(id)) || []))]
}
