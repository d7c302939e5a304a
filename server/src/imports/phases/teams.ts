import { programLimits } from '@baton/protocol'
import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { newId } from '../../ids.ts'
import { insertImportedTeam } from '../../workspaces/imported.ts'
import { newTeamKey } from '../mapping.ts'
import { cleanName } from '../plan.ts'
import { findRefs, writeRefs } from '../refs.ts'
import type { Problem } from '../survey.ts'
import type { Pass, Phase } from './phase.ts'

export const teams: Phase<string> = {
  kind: 'teams',
  fillsTargets: true,
  total: ({ survey }) => survey.teams.size,
  // All at once: each new key depends on the others.
  batches: ({ survey }) => [[...survey.teams.keys()].slice(0, programLimits.mappedValues)],
  async plan(pass, db, names) {
    const { mapping, targets, origin, survey } = pass
    const existing = await db.rows<{ id: string; name: string; key: string }>(sql`
      select id, name, key from teams where workspace_id = ${origin.workspaceId}`)
    const refs = await findRefs(db, origin, 'team', names)
    const problems: Problem[] = []
    const taken = new Set(existing.map(({ key }) => key))
    const created: { id: string; name: string; key: string; source: string }[] = []
    let skipped = 0
    pass.teams.clear()
    for (const { id, key } of existing) pass.teams.set(id, { key, isNew: false, keep: false })
    for (const source of names) {
      const choice = mapping.teams[source] ?? proposeTeam(source, existing)
      const known = existing.find(({ id }) => id === choice || id === refs.get(source)?.target_id)
      const named = existing.find(({ name }) => name.toLowerCase() === source.toLowerCase())
      if (choice === 'skip') {
        targets.teams.set(source, null)
        skipped++
      } else if (choice !== 'create' && !existing.some(({ id }) => id === choice)) {
        targets.teams.set(source, null)
        skipped++
        problems.push({
          row: null,
          field: 'team',
          value: source,
          message: 'is mapped to a team that does not exist; its issues are skipped',
        })
      } else if (known ?? named) {
        targets.teams.set(
          source,
          (choice === 'create' ? (known ?? named) : existing.find(({ id }) => id === choice))?.id ?? null,
        )
      } else {
        const prefixes = [...(survey.teams.get(source)?.prefixes ?? [])].sort((a, b) => b[1] - a[1])
        const team = {
          id: newId('team'),
          name: cleanName(source),
          key: newTeamKey(source, prefixes[0]?.[0] ?? null, taken),
          source,
        }
        taken.add(team.key)
        created.push(team)
        targets.teams.set(source, team.id)
        pass.teams.set(team.id, { key: team.key, isNew: true, keep: false })
      }
    }
    targets.teams.set('', mapping.default_team_id)
    if (mapping.keep_codes) problems.push(...(await decideCodes(pass, db)))
    return {
      counts: { created: created.length, skipped, unchanged: names.length - created.length - skipped },
      problems,
      async write(tx, now) {
        for (const team of created) {
          await insertImportedTeam({ tx, now, caller: { id: pass.creatorId, workspaceId: origin.workspaceId } }, team)
        }
        await writeRefs(
          tx,
          origin,
          'team',
          created.map(({ id, source }) => ({ external_id: source, target_id: id })),
        )
      },
    }
  },
}

export const proposeTeam = (source: string, existing: readonly { id: string; name: string; key: string }[]) =>
  existing.find(({ name, key }) => [name, key].some((text) => text.toLowerCase() === source.toLowerCase()))?.id ??
  'create'

/** Codes are kept in teams that have only issues of this source. */
async function decideCodes({ origin, targets, teams }: Pass, db: Queryable): Promise<Problem[]> {
  const ids = [...new Set(targets.teams.values())].filter((id) => id !== null)
  const others = await db.rows<{ id: string; name: string }>(sql`
    select t.id, t.name from teams t
    where t.workspace_id = ${origin.workspaceId} and t.id = any(${ids}) and exists (
      select from issues i where i.team_id = t.id and not exists (
        select from external_refs r
        where r.target_id = i.id and r.kind = 'issue' and r.source = ${origin.source}
          and r.workspace_id = ${origin.workspaceId}))`)
  for (const id of ids) {
    const team = teams.get(id)
    if (team) team.keep = !others.some((other) => other.id === id)
  }
  return others.map(({ name }) => ({
    row: null,
    field: 'keep_codes',
    value: name,
    message: 'has other issues, so imported issues get new codes; their old codes find them too',
  }))
}
