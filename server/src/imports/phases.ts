import { type ImportCount, type ImportKind, type ImportMapping, nameProblem, programLimits } from '@baton/protocol'
import { insertImportedComments } from '../comments/imported.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { importedId, newId } from '../ids.ts'
import { addAliases, addDuplicates, insertImported, setParents, updateImported } from '../issues/imported.ts'
import { addBlocks, isAncestor, type StoredIssue } from '../issues/queries.ts'
import { lockParents } from '../issues/update.ts'
import { insertPlaceholders } from '../login/placeholders.ts'
import { insertCycles, insertLabels, insertMilestones } from '../planning/imported.ts'
import { insertImportedProjects } from '../projects/imported.ts'
import { insertImportedTeam } from '../workspaces/imported.ts'
import { orderOf } from './codes.ts'
import { newTeamKey, userValue } from './mapping.ts'
import {
  type Attachment,
  cleanName,
  cleanText,
  clip,
  closedLabelKey,
  cycleKey,
  isLeftOut,
  type PlannedIssue,
  planComment,
  planIssue,
  statusFor,
  type Targets,
} from './plan.ts'
import type { SourceComment, SourceIssue, SourceRecord } from './record.ts'
import { findRefs, type NewRef, type Origin, writeRefs } from './refs.ts'
import { codeOf, type Edge, type Problem, type Survey } from './survey.ts'

/** One pass of an import over its source: a preview, or a run. */
export interface Pass {
  origin: Origin
  importId: string
  creatorId: string | null
  /** Stands for times that the source does not have. */
  createdAt: Date
  mapping: ImportMapping
  survey: Survey
  records: () => AsyncIterable<SourceRecord>
  targets: {
    [Kind in keyof Targets]: Map<string, Targets[Kind] extends ReadonlyMap<string, infer Value> ? Value : never>
  }
  /** Teams of the targets. */
  teams: Map<string, { key: string; isNew: boolean; keep: boolean }>
  /** Number of each new issue, by position; a preview needs none. */
  numbers: Int32Array | null
}

/** What one batch does. A preview leaves out `write`. */
export interface PlannedBatch {
  counts: Partial<ImportCount>
  problems: Problem[]
  write(tx: Tx, now: Date): Promise<void>
}

export interface Phase<Item = unknown> {
  kind: ImportKind
  total(pass: Pass): number
  batches(pass: Pass): AsyncIterable<Item[]> | Iterable<Item[]>
  /** Reads what exists, and decides. Also fills `targets`, which a resumed run does again for finished phases. */
  plan(pass: Pass, db: Queryable, items: Item[]): Promise<PlannedBatch>
  /** Work of a run that takes too long for a transaction; it may be repeated. */
  prepare?(pass: Pass, items: Item[]): Promise<void>
  /** Later phases need its `targets`. */
  fillsTargets?: boolean
}

export const batchSize = 500

function* inBatches<Item>(items: Iterable<Item>): Generator<Item[]> {
  const all = [...items]
  for (let start = 0; start < all.length; start += batchSize) yield all.slice(start, start + batchSize)
}

export async function* recordsInBatches<Kind extends SourceRecord['kind']>(
  pass: Pass,
  kind: Kind,
  size = batchSize,
): AsyncGenerator<(Extract<SourceRecord, { kind: Kind }> & { index: number })[]> {
  let batch: (Extract<SourceRecord, { kind: Kind }> & { index: number })[] = []
  let index = 0
  for await (const record of pass.records()) {
    if (record.kind !== kind) continue
    batch.push({ ...(record as Extract<SourceRecord, { kind: Kind }>), index: index++ })
    if (batch.length === size) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

const unchangedOrCreated = (all: number, created: number): Partial<ImportCount> => ({
  created,
  unchanged: all - created,
})

const teams: Phase<string> = {
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

const users: Phase<string> = {
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

const labels: Phase<NamedItem & { color: string | null }> = {
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

const projects: Phase<NamedItem & { description: string; sourceTeams: (string | null)[] }> = {
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

const milestones: Phase<NamedItem & { projectId: string; due: string | null }> = {
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

const cycles: Phase<NamedItem & { cycle: string; teamId: string; starts: string | null; ends: string | null }> = {
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

export const teamOf = ({ survey, targets }: Pass, position: number) =>
  targets.teams.get(survey.issues[position]?.team ?? '') ?? null

/** Whether the mapping imports the issue. */
export const isImported = (pass: Pass, position: number) => {
  const issue = pass.survey.issues[position]
  return issue !== undefined && !isLeftOut(issue, pass.mapping) && teamOf(pass, position) !== null
}

/** The id that a new issue gets: it follows from the source, so that all phases and a resumed run know it. */
export function newIssueId({ survey, origin, createdAt }: Pass, position: number): string {
  const issue = survey.issues[position] as Survey['issues'][number]
  const time = new Date(Math.min(issue.createdAt ?? createdAt.getTime(), createdAt.getTime()))
  return importedId('iss', time, orderOf(issue, position), `${origin.workspaceId} ${origin.source} issue ${issue.id}`)
}

const readAttachments = async (db: Queryable, { importId, survey }: Pass, ids: string[]) => {
  const rows =
    survey.attachments === 0
      ? []
      : await db.rows<Attachment & { issue: string }>(sql`
    select external_id, issue, name, url, text_url, comment, is_link, file_id, fetched from import_attachments
    where import_id = ${importId} and issue = any(${ids}) order by external_id`)
  const byIssue = new Map<string, Attachment[]>()
  for (const row of rows) byIssue.set(row.issue, [...(byIssue.get(row.issue) ?? []), row])
  return byIssue
}

interface Existing {
  id: string
  updated_at: string
}

const issues: Phase<SourceIssue & { index: number }> = {
  kind: 'issues',
  total: ({ survey }) => survey.issues.length,
  batches: (pass) => recordsInBatches(pass, 'issue'),
  async plan(pass, db, items) {
    const { origin, mapping, targets, survey, numbers } = pass
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const refs = await findRefs(
      db,
      origin,
      'issue',
      items.map(({ id }) => id),
    )
    const known = [...refs.values()].map((ref) => ref.target_id)
    const existing = new Map(
      (known.length === 0
        ? []
        : await db.rows<Existing>(sql`select id, updated_at from issues where id = any(${known})`)
      ).map((one) => [one.id, one]),
    )
    const attachments = await readAttachments(
      db,
      pass,
      items.map(({ id }) => id),
    )
    const oldCodes = await takenCodes(db, origin.workspaceId, items)
    const created: { row: StoredIssue; ref: NewRef; alias: string | null }[] = []
    const updated: { change: PlannedIssue & { id: string; unchangedSince: string }; ref: NewRef }[] = []
    for (const { index: _, ...issue } of items) {
      const position = survey.position(issue.id) as number
      // The second one of two with the same id was reported by the survey.
      if (survey.issues[position]?.row !== issue.row || !isImported(pass, position)) {
        counts.skipped++
        continue
      }
      const plan = planIssue(issue, mapping, targets, attachments.get(issue.id) ?? [], pass.createdAt)
      const ref = refs.get(issue.id)
      const newRef = {
        external_id: issue.id,
        key: issue.key,
        url: issue.url,
        hash: plan.hash,
        imported_at: plan.item.updated_at,
      }
      if (ref) {
        const here = existing.get(ref.target_id)
        const outcome = !here
          ? 'deleted'
          : ref.hash !== null && plan.hash.equals(ref.hash)
            ? 'unchanged'
            : ref.imported_at !== null && here.updated_at > ref.imported_at
              ? 'changed'
              : 'updated'
        if (outcome === 'unchanged') counts.unchanged++
        else if (outcome === 'updated') {
          counts.updated++
          problems.push(...plan.problems)
          updated.push({
            change: { ...plan.item, id: ref.target_id, unchangedSince: ref.imported_at ?? '' },
            ref: { ...newRef, target_id: ref.target_id },
          })
        } else {
          counts.skipped++
          const message =
            outcome === 'deleted'
              ? 'was imported before and deleted here; it is skipped'
              : 'was changed here since it was imported; it is skipped'
          problems.push({ row: issue.row, field: null, value: issue.key ?? issue.id, message })
        }
        continue
      }
      counts.created++
      problems.push(...plan.problems)
      const id = newIssueId(pass, position)
      const { code, alias } = codesOf(pass, position, plan.item.team_id as string)
      if (alias && oldCodes.has(alias)) {
        problems.push({
          row: issue.row,
          field: 'key',
          value: alias,
          message: 'is the code of another issue here; it does not find the imported one',
        })
      }
      created.push({
        row: storedIssue(id, code, plan.item),
        ref: { ...newRef, target_id: id },
        alias: alias && !oldCodes.has(alias) ? alias : null,
      })
    }
    return {
      counts,
      problems,
      async write(tx) {
        if (numbers === null) throw new Error('a run needs numbers')
        if (created.length > 0) {
          await insertImported(
            tx,
            origin.workspaceId,
            created.map(({ row }) => row),
          )
          await addAliases(
            tx,
            origin.workspaceId,
            created.flatMap(({ row: { id, code }, alias }) => (alias && alias !== code ? [{ code: alias, id }] : [])),
          )
        }
        const times = await updateImported(
          tx,
          origin.workspaceId,
          updated.map(({ change: { reporter_id: _, created_at: __, ...change } }) => change),
        )
        const refsOfUpdated = updated.flatMap(({ ref }) =>
          times.has(ref.target_id) ? [{ ...ref, imported_at: times.get(ref.target_id) ?? null }] : [],
        )
        await writeRefs(tx, origin, 'issue', [...created.map(({ ref }) => ref), ...refsOfUpdated])
      },
    }
  },
}

/** Codes of the source that issues here have. */
async function takenCodes(db: Queryable, workspaceId: string, items: readonly SourceIssue[]): Promise<Set<string>> {
  const codes = items.flatMap((issue) => (codeOf(issue)?.prefix ? [(issue.key as string).toUpperCase()] : []))
  if (codes.length === 0) return new Set()
  const rows = await db.rows<{ code: string }>(sql`
    select code from issue_codes where workspace_id = ${workspaceId} and code = any(${codes})`)
  return new Set(rows.map(({ code }) => code))
}

function codesOf(
  { survey, teams, numbers }: Pass,
  position: number,
  teamId: string,
): { code: string; alias: string | null } {
  const issue = survey.issues[position] as Survey['issues'][number]
  const alias = codeOf(issue)?.prefix ? (issue.key as string).toUpperCase() : null
  return { code: `${teams.get(teamId)?.key ?? ''}-${numbers?.[position] ?? 0}`, alias }
}

const storedIssue = (id: string, code: string, plan: PlannedIssue): StoredIssue => ({
  ...plan,
  id,
  code,
  parent_id: null,
  delegate_id: null,
  delegation_revision: 0,
  blocks_ids: [],
  blocked_by_ids: [],
  personal: false,
  sort_order: Date.parse(plan.created_at),
})

const relations: Phase<Edge> = {
  kind: 'relations',
  total: ({ survey }) => survey.edges.length,
  batches: ({ survey }) => inBatches(survey.edges),
  async plan(pass, db, edges) {
    const { origin, survey } = pass
    const idOf = (position: number) => (survey.issues[position] as Survey['issues'][number]).id
    const outside = edges.flatMap(({ to }) => (typeof to === 'string' ? [to] : []))
    const refs = await findRefs(db, origin, 'issue', [
      ...edges.flatMap(({ from, to }) => (typeof to === 'number' ? [idOf(from), idOf(to)] : [idOf(from)])),
      ...outside,
    ])
    const byCode = await codesOfSource(db, origin, outside)
    const targets = [...new Set([...refs.values()].map((ref) => ref.target_id).concat([...byCode.values()]))]
    const here = new Map(
      (targets.length === 0
        ? []
        : await db.rows<Existing & { parent_id: string | null; team_id: string | null }>(sql`
        select id, updated_at, parent_id from issues where id = any(${targets})`)
      ).map((one) => [one.id, one]),
    )
    const blocks = new Set(
      (targets.length === 0
        ? []
        : await db.rows<{ a: string; b: string }>(sql`
        select blocker_id as a, blocked_id as b from issue_blocks where blocker_id = any(${targets})`)
      ).map(({ a, b }) => `${a} ${b}`),
    )
    const duplicates = new Map(
      (targets.length === 0
        ? []
        : await db.rows<{ a: string; b: string }>(sql`
        select issue_id as a, duplicate_of_id as b from issue_duplicates where issue_id = any(${targets})`)
      ).map(({ a, b }) => [a, b]),
    )
    /** The id here; undefined for an issue that is not imported. */
    const resolve = (end: number | string): string | undefined => {
      if (typeof end === 'string') {
        const id = refs.get(end)?.target_id ?? byCode.get(end)
        return id !== undefined && here.has(id) ? id : undefined
      }
      const ref = refs.get(idOf(end))
      if (ref) return here.has(ref.target_id) ? ref.target_id : undefined
      return isImported(pass, end) ? newIssueId(pass, end) : undefined
    }
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const parents: { child: string; parent: string }[] = []
    const newBlocks: [string, string][] = []
    const newDuplicates: { duplicate: string; original: string }[] = []
    for (const { kind, from, to, row, field } of edges) {
      const [first, second] = [resolve(from), resolve(to)]
      const value = typeof to === 'string' ? to : (survey.issues[to]?.key ?? idOf(to))
      const skip = (message: string | null) => {
        counts.skipped++
        if (message) problems.push({ row, field, value, message })
      }
      if (first === undefined) skip(null)
      else if (second === undefined) skip('is not in the import; the relation is skipped')
      else {
        const ref = refs.get(idOf(from))
        const current = here.get(first)
        const changed = ref && current && ref.imported_at !== null && current.updated_at > ref.imported_at
        if (kind === 'parent') {
          if (current?.parent_id === second) counts.unchanged++
          else if (changed) skip(null)
          else if (ref && ref.created_at < origin.startedAt.toISOString() && (await isAncestor(db, first, second)))
            skip('is a descendant of this issue; the parent is skipped')
          else {
            counts.created++
            parents.push({ child: first, parent: second })
          }
        } else if (kind === 'block') {
          if (blocks.has(`${first} ${second}`)) counts.unchanged++
          else if (changed || blocks.has(`${second} ${first}`)) skip(null)
          else {
            counts.created++
            newBlocks.push([first, second])
          }
        } else if (duplicates.get(first) === second) counts.unchanged++
        else if (changed || duplicates.has(first) || duplicates.get(second) === first) skip(null)
        else {
          counts.created++
          newDuplicates.push({ duplicate: first, original: second })
        }
      }
    }
    return {
      counts,
      problems,
      async write(tx, now) {
        if (parents.length > 0) await lockParents(tx, origin.workspaceId)
        await setParents(tx, parents)
        await addBlocks(tx, origin.workspaceId, newBlocks)
        await addDuplicates(tx, origin.workspaceId, now, newDuplicates)
      },
    }
  },
}

/** Issues that an earlier import of the source created, by their code there. */
async function codesOfSource(
  db: Queryable,
  { workspaceId, source }: Origin,
  references: string[],
): Promise<Map<string, string>> {
  const codes = new Map(
    references.filter((one) => /^[A-Za-z][A-Za-z0-9]*-\d{1,9}$/.test(one)).map((one) => [one.toUpperCase(), one]),
  )
  if (codes.size === 0) return new Map()
  const rows = await db.rows<{ code: string; id: string }>(sql`
    select c.code, c.issue_id as id from issue_codes c
    where c.workspace_id = ${workspaceId} and c.code = any(${[...codes.keys()]}) and exists (
      select from external_refs r where r.target_id = c.issue_id and r.source = ${source} and r.workspace_id = ${workspaceId})`)
  return new Map(rows.map(({ code, id }) => [codes.get(code) as string, id]))
}

const comments: Phase<SourceComment & { index: number }> = {
  kind: 'comments',
  total: ({ survey }) => survey.comments,
  batches: (pass) => (pass.survey.comments === 0 ? [] : recordsInBatches(pass, 'comment')),
  async plan(pass, db, items) {
    const { origin, survey, targets } = pass
    const refs = await findRefs(
      db,
      origin,
      'comment',
      items.map(({ id }) => id),
    )
    const positions = new Map(items.map(({ issue }) => [issue, survey.position(issue)]))
    const issueId = (issue: string) => {
      const position = positions.get(issue)
      return position === undefined ? issue : (survey.issues[position]?.id ?? issue)
    }
    const issueRefs = await findRefs(
      db,
      origin,
      'issue',
      items.map(({ issue }) => issueId(issue)),
    )
    const alive = new Set(
      (issueRefs.size === 0
        ? []
        : await db.rows<{ id: string }>(sql`
        select id from issues where id = any(${[...issueRefs.values()].map((ref) => ref.target_id)})`)
      ).map(({ id }) => id),
    )
    const attachments = await readAttachments(
      db,
      pass,
      items.map(({ issue }) => issueId(issue)),
    )
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const created = new Map<
      string,
      { id: string; issue_id: string; author_id: string | null; text: string; created_at: string; updated_at: string }
    >()
    for (const { index, ...comment } of items) {
      const position = positions.get(comment.issue)
      const ref = issueRefs.get(issueId(comment.issue))
      const target = ref
        ? alive.has(ref.target_id)
          ? ref.target_id
          : null
        : position !== undefined && isImported(pass, position)
          ? newIssueId(pass, position)
          : null
      if (refs.has(comment.id) || created.has(comment.id)) {
        counts.unchanged++
        continue
      }
      const ofComment = (attachments.get(issueId(comment.issue)) ?? []).filter((one) => one.comment === comment.id)
      const plan = target === null ? null : planComment(comment, targets, ofComment, pass.createdAt)
      if (target === null || plan === null) {
        counts.skipped++
        if (position === undefined && !ref)
          problems.push({
            row: comment.row,
            field: 'comment',
            value: comment.issue,
            message: 'is not in the import; its comment is skipped',
          })
        continue
      }
      counts.created++
      problems.push(...plan.problems)
      const time = new Date(Math.min(Date.parse(plan.item.created_at), pass.createdAt.getTime()))
      const id = importedId('cmt', time, index, `${origin.workspaceId} ${origin.source} comment ${comment.id}`)
      created.set(comment.id, { id, issue_id: target, ...plan.item })
    }
    return {
      counts,
      problems,
      async write(tx) {
        await insertImportedComments(tx, origin.workspaceId, [...created.values()])
        await writeRefs(
          tx,
          origin,
          'comment',
          [...created].map(([external_id, { id, updated_at }]) => ({
            external_id,
            target_id: id,
            imported_at: updated_at,
          })),
        )
      },
    }
  },
}

/** All phases but that of files, which needs the storage. */
export const phases: readonly Phase<never>[] = [
  teams,
  users,
  labels,
  projects,
  milestones,
  cycles,
  issues,
  relations,
  comments,
] as never
