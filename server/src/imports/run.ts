import { randomUUID } from 'node:crypto'
import { type ImportCounts, type ImportMapping, programLimits } from '@baton/protocol'
import { plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { json, sql } from '../db/sql.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import type { Storage } from '../storage/storage.ts'
import { openTemporaryFile } from '../storage/temporary-file.ts'
import { raiseIssueNumber, takenNumbers } from '../workspaces/issue-numbers.ts'
import { fetchAttachments, fitAttachments } from './attachments.ts'
import { assignNumbers, highestNumber, type NumberedTeam } from './codes.ts'
import { FetchFailed, fetchSource } from './fetch.ts'
import { filesPhase } from './files-phase.ts'
import { describeSource, readSource } from './formats/index.ts'
import { findStrangers } from './identity.ts'
import { changeMapping, emptyMapping, proposed } from './mapping.ts'
import { phases } from './phases/index.ts'
import { type Pass, type Phase, teamOf } from './phases/phase.ts'
import { lastMapping, ofSource, propose } from './propose.ts'
import type { Described, ReadOptions, SourceFile, SourceRecord } from './record.ts'
import { earlierIssues } from './refs.ts'
import {
  addCounts,
  addProblems,
  Canceled,
  Claim,
  type Connection,
  columns,
  ImportFailed,
  Interrupted,
  LostClaim,
  leaseMs,
  mappingOf,
  type Needs,
  nextStart,
  noCounts,
  openKey,
  type Position,
  type StoredFile,
  type StoredImport,
  sendImportHint,
} from './state.ts'
import { Problems, Survey } from './survey.ts'

const maxAttempts = 3
/** Of all pages of an API together. */
const maxFetchedBytes = programLimits.importFiles * programLimits.importFileBytes

/** Works on one import that is due; returns whether there was one. */
export async function workOnImport(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const now = ctx.clock.now()
  const token = randomUUID()
  const one = await ctx.db.row<StoredImport>(sql`
    update imports set claim = ${token}, claimed_until = ${plus(now, leaseMs)}, attempts = attempts + 1
    where id = (
      select i.id from imports i join workspaces w on w.id = i.workspace_id
      where i.state in ('reading', 'running') and (i.claimed_until is null or i.claimed_until < ${now})
        and w.deletion_at is null
      order by i.updated_at limit 1 for update of i skip locked)
    returning ${columns}`)
  if (!one) return false
  const claim = new Claim(ctx, one.id, token, signal)
  // A source may make the worker wait for an hour, and a file may be read for minutes.
  const stopRenewing = repeat(
    ctx.clock,
    leaseMs / 3,
    () => claim.renew(),
    ({ message }) => ctx.log.warn({ message }, 'could not renew'),
  )
  try {
    // Workers died while they worked on it.
    if (one.attempts > maxAttempts) throw new ImportFailed(stoppedByError)
    if (ctx.storage === null) throw new ImportFailed('No storage for files is configured.')
    if (one.state === 'reading') await read(ctx, ctx.storage, one, claim)
    else await run(ctx, ctx.storage, one, claim)
  } catch (error) {
    await settle(ctx, one, claim, error)
  } finally {
    await stopRenewing()
    claim.end()
  }
  return true
}

async function settle(ctx: Context, one: StoredImport, claim: Claim, error: unknown) {
  if (error instanceof LostClaim) return
  if (error instanceof Canceled) return claim.finish('canceled')
  if (error instanceof Interrupted) return claim.release(false)
  if (error instanceof ImportFailed || error instanceof FetchFailed) return claim.finish('failed', error.message)
  ctx.log.warn({ import: one.id, message: (error as Error).message }, 'import')
  if (one.attempts < maxAttempts) return claim.release(true)
  return claim.finish('failed', stoppedByError)
}

const stoppedByError = 'An error of the server stopped the import. Start it again, or ask your operator.'

/** Fetches what the source has on the network, reads everything, proposes a mapping, and previews the run. */
async function read(ctx: Context, storage: Storage, one: StoredImport, claim: Claim) {
  let { files } = one
  if (one.connection && files.length === 0) files = [await fetchFromApi(ctx, storage, one, one.connection, claim)]
  if (files.length === 0) throw new ImportFailed('There is no file to read.')
  const stored = sourceFiles(storage, files)
  await claim.beat('reading', 0, 0, true)
  const described = await describeSource(one.source, stored)
  // What the last import of this source chose, where this one has not chosen yet.
  const isFirst = Object.keys(one.needs).length === 0
  const last = isFirst ? await lastMapping(ctx.db, one, described) : {}
  const options = readOptions({ ...emptyMapping, ...changeMapping(last, one.mapping) }, described)
  const records = () => readSource(one.source, stored, options)
  const survey = await surveyOf(records, claim)
  if (survey.attachments > 0) await fetchAttachments(ctx, storage, one, survey, records, claim)

  const needs: Needs = {
    title: one.source === 'csv',
    date_order: described.dateOrderNeeded,
    default_team: survey.teamless,
  }
  const proposal = await propose(ctx, one, survey, described)
  const mapping = proposed(changeMapping(ofSource(last, proposal), one.mapping), proposal)
  const startedAt = await nextStart(ctx.db, one.workspace_id, ctx.clock.now())
  const pass = await passOf(ctx, one, mapping, survey, records, startedAt)
  const { counts, problems } = await preview(ctx, pass, claim)
  await claim.store({ columns: described.columns, mapping, needs, counts, problems })
  await claim.finish('ready')
}

const notNull = <T>(values: Record<string, T | null>) =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, T] => entry[1] !== null)) as Record<
    string,
    T
  >

function readOptions(mapping: ImportMapping, described: Described): ReadOptions {
  const chosen = mapping.columns as Record<string, number | null>
  const columns = notNull({ ...described.proposed, ...chosen })
  return { columns, dateOrder: mapping.date_order ?? described.dateOrder ?? null }
}

const sourceFiles = (storage: Storage, files: readonly StoredFile[]): SourceFile[] =>
  files.map(({ name, key }) => ({ name, open: () => storage.read(key) }))

async function surveyOf(records: () => AsyncIterable<SourceRecord>, claim: Claim): Promise<Survey> {
  let done = 0
  const survey = await Survey.of(records(), async () => {
    if (++done % 1000 === 0) await claim.beat('reading', done, 0)
  })
  if (survey.tooMany) {
    const most = programLimits.importedIssuesTotal.toLocaleString('en')
    throw new ImportFailed(`The source has more than ${most} issues. Split it into several imports.`)
  }
  if (survey.tooLarge)
    throw new ImportFailed(
      'The source has more names and relations than an import can have. Split it into several imports.',
    )
  if (survey.related > 0) {
    const message = `${survey.related} links between related issues are left out: there is no such relation here`
    survey.problems.push({ row: null, field: 'related', value: null, message })
  }
  return survey
}

async function passOf(
  { db }: Context,
  one: StoredImport,
  mapping: ImportMapping,
  survey: Survey,
  records: () => AsyncIterable<SourceRecord>,
  startedAt: Date,
): Promise<Pass> {
  const origin = { workspaceId: one.workspace_id, source: one.source, startedAt }
  const strangers = await findStrangers(db, origin, survey)
  survey.problems.push(...strangers.problems)
  if (survey.points > 0 && mapping.hours_per_point === null) {
    const message = `Estimate points of ${survey.points} ${survey.points === 1 ? 'issue' : 'issues'} are left out: enter how many hours a point has to import them`
    survey.problems.push({ row: null, field: 'points', value: null, message })
  }
  return {
    origin,
    importId: one.id,
    creatorId: one.creator_id,
    createdAt: new Date(one.created_at),
    mapping,
    survey,
    records,
    isEarlier: await earlierIssues(db, origin),
    strangers: strangers.ids,
    targets: {
      teams: new Map(),
      users: new Map(),
      labels: new Map(),
      projects: new Map(),
      milestones: new Map(),
      cycles: new Map(),
    },
    teams: new Map(),
    numbers: null,
  }
}

const allPhases = (ctx: Context, storage: Storage): Phase<never>[] => [
  ...phases,
  filesPhase(ctx, storage) as unknown as Phase<never>,
]

/** What a run would do: the same plan, without its writes. */
async function preview(ctx: Context, pass: Pass, claim: Claim) {
  const counts = noCounts()
  const problems = new Problems()
  problems.push(...pass.survey.problems.kept)
  problems.count = pass.survey.problems.count
  for (const phase of allPhases(ctx, ctx.storage as Storage)) {
    const total = phase.total(pass)
    let done = 0
    await claim.beat('preview', 0, total)
    for await (const batch of ahead(phase.batches(pass))) {
      const planned = await phase.plan(pass, ctx.db, batch)
      addCounts(counts, phase.kind, planned.counts)
      problems.push(...planned.problems)
      done += batch.length
      await claim.beat('preview', done, total)
    }
  }
  return { counts, problems }
}

/** One transaction for each batch: its writes, its problems and the position behind it commit together. */
async function run(ctx: Context, storage: Storage, one: StoredImport, claim: Claim) {
  const mapping = mappingOf(one)
  const stored = sourceFiles(storage, one.files)
  const described = await describeSource(one.source, stored)
  const options = readOptions(mapping, described)
  const records = () => readSource(one.source, stored, options)
  const survey = await surveyOf(records, claim)
  const startedAt = new Date(one.started_at as string)
  const pass = await passOf(ctx, one, mapping, survey, records, startedAt)
  let position: Position = one.position ?? { phase: 0, batch: 0 }
  if (one.position === null) {
    await ctx.db.tx(async (tx) => {
      const current = await claim.confirm(tx)
      if (survey.attachments > 0) await fitAttachments(tx, one, ctx.config.workspaceBytes)
      await addProblems(tx, current, 0, survey.problems.kept)
      await tx.run(sql`
        update imports set problem_count = ${survey.problems.count}, position = ${json(position)} where id = ${one.id}`)
    })
  }
  for (const [index, phase] of allPhases(ctx, storage).entries()) {
    if (index < position.phase && !phase.fillsTargets) continue
    if (phase.kind === 'issues') position = await numberIssues(ctx, pass, claim, position)
    const total = phase.total(pass)
    let [batches, done] = [0, 0]
    for await (const batch of ahead(phase.batches(pass))) {
      batches++
      done += batch.length
      if (index < position.phase || (index === position.phase && batches <= position.batch)) {
        if (phase.fillsTargets) await phase.plan(pass, ctx.db, batch)
        continue
      }
      const next: Position = { ...position, phase: index, batch: batches }
      await phase.prepare?.(pass, batch)
      await ctx.db.tx(async (tx) => {
        const current = await claim.confirm(tx)
        const planned = await phase.plan(pass, tx, batch)
        await planned.write(tx, ctx.clock.now())
        await addProblems(tx, current, current.problem_count, planned.problems)
        const counts = { ...noCounts(), ...current.counts } as ImportCounts
        addCounts(counts, phase.kind, planned.counts)
        await tx.run(sql`
          update imports set phase = ${phase.kind}, done = ${done}, total = ${total}, counts = ${json(counts)},
            problem_count = problem_count + ${planned.problems.length}, position = ${json(next)}, attempts = 0
          where id = ${one.id}`)
        sendImportHint(tx, one.workspace_id, one.id, 'update')
        if (phase.fillsTargets) sendHints(tx, [hintOfLists(one.workspace_id, 'Workspace')])
      })
      position = next
    }
    if (index >= position.phase) position = { ...position, phase: index + 1, batch: 0 }
  }
  await claim.finish('done')
}

/** Reserves the numbers of new issues. A resumed run gives each issue the number that the first attempt gave it. */
async function numberIssues(ctx: Context, pass: Pass, claim: Claim, position: Position): Promise<Position> {
  const { origin, survey } = pass
  const place = (index: number) => teamOf(pass, index)
  const isNew = (index: number) => {
    const issue = survey.issues[index]
    return issue !== undefined && !(issue.archived && !pass.mapping.archived) && !pass.isEarlier(issue.id)
  }
  return ctx.db.tx(async (tx) => {
    await claim.confirm(tx)
    const numbered: NumberedTeam[] = []
    const decided: NonNullable<Position['teams']> = { ...position.teams }
    const ids = [...new Set(pass.targets.teams.values())].filter((id) => id !== null).sort()
    for (const id of ids) {
      const before = decided[id]
      const found = await takenNumbers(tx, id, before?.keep ? 0 : (before?.base ?? 0), origin)
      if (!found) continue
      const keep = before?.keep ?? pass.teams.get(id)?.keep ?? false
      const base =
        before?.base ?? (keep ? 0 : Math.max(found.last, highestNumber(survey, place, { id, key: found.key }, isNew)))
      decided[id] = { base, keep }
      pass.teams.set(id, { key: found.key, isNew: false, keep })
      numbered.push({ id, key: found.key, base, taken: new Set(found.taken), keep })
    }
    const { numbers, highest } = assignNumbers(survey, numbered, place, isNew)
    for (const [id, number] of highest) await raiseIssueNumber(tx, id, number)
    pass.numbers = numbers
    const next = { ...position, teams: decided }
    await tx.run(sql`update imports set position = ${json(next)} where id = ${claim.id}`)
    return next
  })
}

/** Reads the next batch while the current one is written. */
async function* ahead<Item>(batches: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
  const iterator = Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]()
  let next = Promise.resolve(iterator.next())
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = Promise.resolve(iterator.next())
      // A failure is thrown when it is awaited, above.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await iterator.return?.()
  }
}

/** Stores what the API answers as a file, so that preview and run read the same bytes. */
async function fetchFromApi(
  ctx: Context,
  storage: Storage,
  one: StoredImport,
  connection: Connection,
  claim: Claim,
): Promise<StoredFile> {
  await claim.beat('fetching', 0, 0, true)
  const { handle, close } = await openTemporaryFile()
  try {
    let bytes = 0
    const sink = async (lines: Buffer) => {
      bytes += lines.length
      if (bytes > maxFetchedBytes) throw new ImportFailed('The API has more data than an import can contain.')
      await handle.writeFile(lines)
      await claim.beat('fetching', bytes, 0)
    }
    await fetchSource(ctx, connection, openKey(ctx, one) ?? '', sink, claim.signal)
    const stored: StoredFile = { name: 'data.jsonl', bytes, key: `imports/${one.id}/fetched` }
    await storage.remove(stored.key)
    await storage.put(stored.key, handle.createReadStream({ start: 0, autoClose: false }), bytes)
    await ctx.db.tx(async (tx) => {
      await claim.confirm(tx)
      await tx.run(sql`update imports set files = ${json([stored])} where id = ${one.id}`)
    })
    return stored
  } finally {
    await close()
  }
}
