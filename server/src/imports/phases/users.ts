import { nameProblem } from '@baton/protocol'
import { sql } from '../../db/sql.ts'
import { newId } from '../../ids.ts'
import { insertPlaceholders } from '../../login/placeholders.ts'
import { userValue } from '../mapping.ts'
import { cleanName, clip } from '../plan.ts'
import { findRefs, writeRefs } from '../refs.ts'
import type { Problem } from '../survey.ts'
import { inBatches, type Phase, unchangedOrCreated } from './phase.ts'

export const users: Phase<string> = {
  kind: 'users',
  fillsTargets: true,
  total: ({ survey }) => survey.usedUsers.size,
  batches: ({ survey }) => inBatches(survey.usedUsers),
  async plan({ mapping, targets, origin, survey }, db, ids) {
    const people = ids.map((id) => survey.users.get(id) ?? { kind: 'user' as const, id, name: id, email: null })
    const chosen = (person: { name: string; email: string | null }) => mapping.users[userValue(person)] ?? null
    const refs = await findRefs(db, origin, 'user', ids)
    const members = await db.rows<{ id: string; email: string; member: boolean }>(sql`
      select u.id, lower(u.email) as email, m.user_id is not null as member from users u
      left join memberships m on m.user_id = u.id and m.workspace_id = ${origin.workspaceId}
      where (m.user_id is not null or u.placeholder_in = ${origin.workspaceId})
        and (u.email = any(${people.flatMap(({ email }) => email?.toLowerCase() ?? [])})
          or u.id = any(${[...people.flatMap((person) => chosen(person) ?? []), ...[...refs.values()].map((ref) => ref.target_id)]}))`)
    const problems: Problem[] = []
    const created: { id: string; name: string; source: string }[] = []
    for (const person of people) {
      const choice = chosen(person)
      const byChoice = members.find(({ id, member }) => member && id === choice)
      if (choice && !byChoice)
        problems.push({
          row: null,
          field: 'user',
          value: userValue(person),
          message: 'is mapped to a user who is not a member; a placeholder is used',
        })
      const byEmail = members.find(({ email, member }) => member && email === person.email?.toLowerCase())
      const before = members.find(({ id }) => id === refs.get(person.id)?.target_id)
      const found = byChoice ?? byEmail ?? before
      if (found) targets.users.set(person.id, found.id)
      else {
        const name = cleanName(person.name)
        const id = newId('usr')
        created.push({ id, name: nameProblem(name, 'person') ? `${clip(name, 70)} (import)` : name, source: person.id })
        targets.users.set(person.id, id)
      }
    }
    return {
      counts: unchangedOrCreated(ids.length, created.length),
      problems,
      async write(tx, now) {
        await insertPlaceholders(tx, origin.workspaceId, now, created)
        await writeRefs(
          tx,
          origin,
          'user',
          created.map(({ id, source }) => ({ external_id: source, target_id: id })),
        )
      },
    }
  },
}
