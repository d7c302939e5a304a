import type { ImportCount, ImportKind, ImportMapping } from '@baton/protocol'
import type { Queryable, Tx } from '../../db/database.ts'
import { importedId } from '../../ids.ts'
import { orderOf } from '../codes.ts'
import { isLeftOut, type Targets } from '../plan.ts'
import type { SourceRecord } from '../record.ts'
import type { Origin } from '../refs.ts'
import type { Problem, Survey } from '../survey.ts'

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
  /** Whether an earlier run created the issue with this id. */
  isEarlier: (id: string) => boolean
  /** Ids of issues that are not the ones an earlier import gave these ids. */
  strangers: ReadonlySet<string>
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

export function* inBatches<Item>(items: Iterable<Item>): Generator<Item[]> {
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

export const unchangedOrCreated = (all: number, created: number): Partial<ImportCount> => ({
  created,
  unchanged: all - created,
})

export const teamOf = ({ survey, targets }: Pass, position: number) =>
  targets.teams.get(survey.issues[position]?.team ?? '') ?? null

/** Whether the mapping imports the issue. */
export const isImported = (pass: Pass, position: number) => {
  const issue = pass.survey.issues[position]
  return (
    issue !== undefined &&
    !isLeftOut(issue, pass.mapping) &&
    teamOf(pass, position) !== null &&
    !pass.strangers.has(issue.id)
  )
}

/** The id that a new issue gets: it follows from the source, so that all phases and a resumed run know it. */
export function newIssueId({ survey, origin, createdAt }: Pass, position: number): string {
  const issue = survey.issues[position] as Survey['issues'][number]
  const time = new Date(Math.min(issue.createdAt ?? createdAt.getTime(), createdAt.getTime()))
  return importedId('iss', time, orderOf(issue, position), `${origin.workspaceId} ${origin.source} issue ${issue.id}`)
}
