import type { AuditEntry } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { appsQuery, installationsQuery } from '../data/agent-apps.ts'
import { webhooksQuery } from '../data/webhooks.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { isolated } from '../ui/isolated.ts'

/** Name of the subject, as recorded in the entry. */
const recordedName = ({ details: { name, label, email, host } }: AuditEntry) =>
  [name, label, email, host].find((name) => typeof name === 'string' && name !== '') as string | undefined

/** Names by id: the current name, or the recorded name of deleted subjects. */
export function useNames(entries: AuditEntry[]): ReadonlyMap<string, string> {
  const people = usePeople()
  const teams = useTeams()
  const apps = useQuery(appsQuery).data ?? []
  const installations = useQuery(installationsQuery).data ?? []
  const webhooks = useQuery(webhooksQuery).data ?? []
  const names = new Map<string, string>()
  const add = (id: string, name: string) => names.set(id, isolated(name))
  for (const entry of entries) {
    if (entry.actor) add(entry.actor.id, entry.actor.name)
    const recorded = recordedName(entry)
    if (recorded) add(entry.subject_id, recorded)
  }
  for (const { id, display_name } of people.values()) add(id, display_name)
  for (const { id, name } of [...teams, ...apps]) add(id, name)
  for (const { id, label, url } of webhooks) add(id, label || new URL(url).host)
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

/** Everyone to filter by: people and agents of the workspace, and those of the entries who have left. */
export function useActors(entries: AuditEntry[]): { id: string; name: string }[] {
  const people = usePeople()
  const actors = new Map<string, string>()
  for (const { actor } of entries) if (actor) actors.set(actor.id, actor.name)
  for (const { id, display_name } of people.values()) actors.set(id, display_name)
  return [...actors].map(([id, name]) => ({ id, name })).sort((a, b) => a.name.localeCompare(b.name))
}
