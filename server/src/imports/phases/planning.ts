import type { ImportCount } from '@baton/protocol'
import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { newId } from '../../ids.ts'
import { insertCycles, insertLabels, insertMilestones } from '../../planning/imported.ts'
import { insertImportedProjects } from '../../projects/imported.ts'
import { cleanName, cleanText, clip, closedLabelKey, cycleKey, statusFor } from '../plan.ts'
import { findRefs, type NewRef, type Origin, writeRefs } from '../refs.ts'
import type { Pass, Phase } from './phase.ts'

interface NamedItem {
  /** In the source. */
  id: string
  name: string
}

/** Finds items by their reference, then by name; the others are created, each name once. */
async function findOrCreate<Item extends NamedItem>(
  db: Queryable,
  origin: Origin,
  kind: 'label' | 'project' | 'milestone' | 'cycle',
  items: readonly Item[],
  prefix: 'lbl' | 'prj' | 'mil' | 'cyc',
  existing: readonly { id: string; name: string }[],
  /** What a name has to be unique in. */
  scopeOf: (item: Item) => string = () => '',
  scopeOfExisting: (item: { id: string; name: string }) => string = () => '',
) {
  const refs = await findRefs(
    db,
    origin,
    kind,
    items.map(({ id }) => id),
  )
  const key = (scope: string, name: string) => `${scope}\n${name.toLowerCase()}`
  const byName = new Map(existing.map((one) => [key(scopeOfExisting(one), one.name), one.id]))
  const alive = new Set(existing.map(({ id }) => id))
  const found = new Map<string, string | null>()
  const created: (Item & { target: string })[] = []
  const linked: NewRef[] = []
  for (const item of items) {
    const ref = refs.get(item.id)
    // Deleted here after an earlier import: it is created once.
    if (ref) found.set(item.id, alive.has(ref.target_id) ? ref.target_id : null)
    else {
      const name = key(scopeOf(item), item.name)
      const target = byName.get(name) ?? newId(prefix)
      if (!byName.has(name)) created.push({ ...item, target })
      byName.set(name, target)
      found.set(item.id, target)
      linked.push({ external_id: item.id, target_id: target })
    }
  }
  const gone = [...found.values()].filter((target) => target === null).length
  const counts: Partial<ImportCount> = {
    created: created.length,
    skipped: gone,
    unchanged: items.length - created.length - gone,
  }
  return { found, created, linked, counts }
}

export const labels: Phase<NamedItem & { color: string | null }> = {
  kind: 'labels',
  fillsTargets: true,
  total: ({ survey }) => survey.usedLabels.size,
  // All at once, because two labels of the source can have the same name here.
  *batches({ survey, mapping }) {
    const items = [...survey.usedLabels].map((id) => {
      const label = survey.labels.get(id)
      return {
        id,
        name: cleanName(label?.name ?? id),
        color: /^#[0-9a-f]{6}$/i.test(label?.color ?? '') ? (label?.color ?? '').toLowerCase() : null,
      }
    })
    for (const [label, statuses] of survey.closed) {
      if ([...statuses].some((status) => statusFor(mapping, status, survey.statuses.get(status)) === 'done'))
        items.push({ id: closedLabelKey(label), name: label, color: null })
    }
    yield items
  },
  async plan({ origin, mapping, targets }, db, items) {
    const wanted = items.filter(({ name }) => mapping.labels[name] !== 'skip')
    const names = wanted.map(({ name }) => name.toLowerCase())
    const refs = await findRefs(
      db,
      origin,
      'label',
      wanted.map(({ id }) => id),
    )
    const existing = await db.rows<{ id: string; name: string }>(sql`
      select id, name from labels where workspace_id = ${origin.workspaceId}
        and (lower(name) = any(${names}) or id = any(${[...refs.values()].map((ref) => ref.target_id)}))`)
    const { found, created, linked, counts } = await findOrCreate(db, origin, 'label', wanted, 'lbl', existing)
    for (const { id } of items) targets.labels.set(id, found.get(id) ?? null)
    return {
      counts: { ...counts, skipped: (counts.skipped ?? 0) + items.length - wanted.length },
      problems: [],
      async write(tx, now) {
        await insertLabels(
          tx,
          origin.workspaceId,
          now,
          created.map(({ target, name, color }) => ({ id: target, name, color })),
        )
        await writeRefs(tx, origin, 'label', linked)
      },
    }
  },
}

/** Milestones belong to projects here: those without one get a project with the name of their team. */
const projectOfMilestone = ({ survey }: Pass, id: string): { id: string; name: string } => {
  const project = survey.milestones.get(id)?.project
  if (project) return { id: project, name: survey.projects.get(project)?.name ?? project }
  const team = [...(survey.teamsOf.milestone.get(id) ?? [])][0] ?? null
  return { id: `milestones of ${team ?? ''}`, name: team ?? 'Milestones' }
}

export const projects: Phase<NamedItem & { description: string; sourceTeams: (string | null)[] }> = {
  kind: 'projects',
  fillsTargets: true,
  total: ({ survey }) => survey.teamsOf.project.size,
  *batches(pass) {
    const { survey } = pass
    const items = new Map<string, NamedItem & { description: string; sourceTeams: (string | null)[] }>()
    for (const [id, sourceTeams] of survey.teamsOf.project) {
      const project = survey.projects.get(id)
      items.set(id, {
        id,
        name: cleanName(project?.name ?? id, 255),
        description: clip(cleanText(project?.description ?? ''), 100_000),
        sourceTeams: [...sourceTeams],
      })
    }
    for (const [id, sourceTeams] of survey.teamsOf.milestone) {
      const project = projectOfMilestone(pass, id)
      if (!items.has(project.id))
        items.set(project.id, {
          ...project,
          name: cleanName(project.name, 255),
          description: '',
          sourceTeams: [...sourceTeams],
        })
    }
    yield [...items.values()]
  },
  async plan({ origin, targets }, db, items) {
    const refs = await findRefs(
      db,
      origin,
      'project',
      items.map(({ id }) => id),
    )
    const existing = await db.rows<{ id: string; name: string }>(sql`
      select id, title as name from projects where workspace_id = ${origin.workspaceId} and not personal
        and (lower(title) = any(${items.map(({ name }) => name.toLowerCase())})
          or id = any(${[...refs.values()].map((ref) => ref.target_id)}))`)
    const { found, created, linked, counts } = await findOrCreate(db, origin, 'project', items, 'prj', existing)
    for (const [id, target] of found) targets.projects.set(id, target)
    return {
      counts,
      problems: [],
      async write(tx, now) {
        const rows = created.map(({ target, name, description, sourceTeams }) => {
          const teamIds = sourceTeams.flatMap((team) => targets.teams.get(team ?? '') ?? [])
          return { id: target, title: name, description, team_ids: [...new Set(teamIds)] }
        })
        await insertImportedProjects(tx, origin.workspaceId, now, rows)
        await writeRefs(tx, origin, 'project', linked)
      },
    }
  },
}

export const milestones: Phase<NamedItem & { projectId: string; due: string | null }> = {
  kind: 'milestones',
  fillsTargets: true,
  total: ({ survey }) => survey.teamsOf.milestone.size,
  *batches(pass) {
    const { survey, targets } = pass
    const items = [...survey.teamsOf.milestone.keys()].flatMap((id) => {
      const milestone = survey.milestones.get(id)
      const projectId = targets.projects.get(projectOfMilestone(pass, id).id)
      return projectId ? [{ id, name: cleanName(milestone?.name ?? id), projectId, due: milestone?.due ?? null }] : []
    })
    yield items
  },
  async plan({ origin, targets }, db, items) {
    const existing = await db.rows<{ id: string; name: string; project_id: string }>(sql`
      select id, name, project_id from milestones
      where workspace_id = ${origin.workspaceId} and project_id = any(${[...new Set(items.map(({ projectId }) => projectId))]})`)
    const projectOf = new Map(existing.map(({ id, project_id }) => [id, project_id]))
    const { found, created, linked, counts } = await findOrCreate(
      db,
      origin,
      'milestone',
      items,
      'mil',
      existing,
      ({ projectId }) => projectId,
      ({ id }) => projectOf.get(id) ?? '',
    )
    for (const { id, projectId } of items) {
      const target = found.get(id)
      targets.milestones.set(id, target ? { id: target, projectId: projectOf.get(target) ?? projectId } : null)
    }
    return {
      counts,
      problems: [],
      async write(tx, now) {
        const rows = created.map(({ target, name, projectId, due }) => ({
          id: target,
          name,
          project_id: projectId,
          target_date: due && dayTime(due),
        }))
        await insertMilestones(tx, origin.workspaceId, now, rows)
        await writeRefs(tx, origin, 'milestone', linked)
      },
    }
  },
}

export const cycles: Phase<NamedItem & { cycle: string; teamId: string; starts: string | null; ends: string | null }> =
  {
    kind: 'cycles',
    fillsTargets: true,
    total: ({ survey }) => survey.teamsOf.cycle.size,
    *batches({ survey, targets }) {
      const items = new Map<
        string,
        NamedItem & { cycle: string; teamId: string; starts: string | null; ends: string | null }
      >()
      for (const [cycle, sourceTeams] of survey.teamsOf.cycle) {
        const described = survey.cycles.get(cycle)
        for (const source of sourceTeams) {
          const teamId = targets.teams.get(source ?? '')
          if (!teamId) continue
          const { starts = null, ends = null } = described ?? {}
          items.set(cycleKey(cycle, teamId), {
            id: `${cycle}\n${source ?? ''}`,
            name: cleanName(described?.name ?? cycle),
            cycle,
            teamId,
            starts,
            ends,
          })
        }
      }
      yield [...items.values()]
    },
    async plan({ origin, targets }, db, items) {
      const existing = await db.rows<{ id: string; name: string; team_id: string }>(sql`
      select id, name, team_id from cycles
      where workspace_id = ${origin.workspaceId} and team_id = any(${[...new Set(items.map(({ teamId }) => teamId))]})`)
      const teamOf = new Map(existing.map(({ id, team_id }) => [id, team_id]))
      const { found, created, linked, counts } = await findOrCreate(
        db,
        origin,
        'cycle',
        items,
        'cyc',
        existing,
        ({ teamId }) => teamId,
        ({ id }) => teamOf.get(id) ?? '',
      )
      for (const { id, cycle, teamId } of items) targets.cycles.set(cycleKey(cycle, teamId), found.get(id) ?? null)
      return {
        counts,
        problems: [],
        async write(tx, now) {
          const rows = created.map(({ target, name, teamId, starts, ends }) => ({
            id: target,
            name,
            team_id: teamId,
            starts_at: starts && dayTime(starts),
            ends_at: ends && dayTime(ends),
          }))
          await insertCycles(tx, origin.workspaceId, now, rows)
          await writeRefs(tx, origin, 'cycle', linked)
        },
      }
    },
  }

const dayTime = (text: string) => (Number.isNaN(Date.parse(text)) ? null : new Date(text).toISOString())
