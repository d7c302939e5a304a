import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { IssueStatus, IssueType } from './issues.ts'
import { programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { OptionalRef, Priority, Ref } from './tracker.ts'

export const importSources = ['linear', 'github', 'jira', 'csv'] as const
export const ImportSource = Type.Enum(importSources, { 'x-message': 'must be linear, github, jira or csv' })
export type ImportSource = Static<typeof ImportSource>

export const importStates = ['uploading', 'reading', 'ready', 'running', 'done', 'canceled', 'failed'] as const
export const ImportState = Type.Enum(importStates)
export type ImportState = Static<typeof ImportState>

/** In the order of a run. */
export const importKinds = [
  'teams',
  'users',
  'labels',
  'projects',
  'milestones',
  'cycles',
  'issues',
  'relations',
  'comments',
  'files',
] as const
export type ImportKind = (typeof importKinds)[number]

export const ImportCount = Type.Object(
  {
    created: Type.Integer(),
    updated: Type.Integer(),
    /** Found here, and equal. */
    unchanged: Type.Integer(),
    skipped: Type.Integer(),
  },
  { ...closed, title: 'ImportCount' },
)
export type ImportCount = Static<typeof ImportCount>

const counts = Object.fromEntries(importKinds.map((kind) => [kind, ImportCount])) as Record<
  ImportKind,
  typeof ImportCount
>
export const ImportCounts = Type.Object(counts, { ...closed, title: 'ImportCounts' })
export type ImportCounts = Static<typeof ImportCounts>

const SourceValue = Type.String({ minLength: 1, maxLength: programLimits.mappedValue })
const perValue = <S extends Parameters<typeof Type.Record>[1]>(schema: S) =>
  Type.Record(SourceValue, schema, { maxProperties: programLimits.mappedValues })

/** The fields of an issue that a column of a CSV can have. */
export const importColumns = [
  'id',
  'key',
  'team',
  'title',
  'description',
  'status',
  'priority',
  'type',
  'labels',
  'project',
  'milestone',
  'cycle',
  'parent',
  'blocks',
  'blockedBy',
  'duplicateOf',
  'related',
  'creator',
  'assignee',
  'hours',
  'points',
  'due',
  'createdAt',
  'updatedAt',
  'completedAt',
  'archived',
  'url',
] as const
export type ImportColumn = (typeof importColumns)[number]

const mapping = {
  /** For issues without a team in the source. */
  default_team_id: OptionalRef,
  /** A team's id, `create` or `skip`. */
  teams: perValue(Ref),
  /** Null: not mapped, so it gets the default and is reported. */
  statuses: perValue(nullable(IssueStatus)),
  priorities: perValue(nullable(Priority)),
  types: perValue(nullable(IssueType)),
  /** By e-mail address, or name without one: a member's id, or null for a placeholder. */
  users: perValue(OptionalRef),
  labels: perValue(Type.Enum(['create', 'skip'], { 'x-message': 'must be create or skip' })),
  /** By field: position of its column, from 0. Null: none. */
  columns: Type.Partial(
    Type.Object(
      Object.fromEntries(
        importColumns.map((field) => [field, nullable(Type.Integer({ minimum: 0, maximum: 9999 }))]),
      ) as Record<ImportColumn, ReturnType<typeof nullable<ReturnType<typeof Type.Integer>>>>,
    ),
    { ...closed, title: 'ImportColumns' },
  ),
  date_order: nullable(Type.Enum(['day-month', 'month-day'], { 'x-message': 'must be day-month or month-day' })),
  keep_codes: Type.Boolean(),
  /** Whether archived issues are imported. */
  archived: Type.Boolean(),
  /** Points are not hours: without a factor they are skipped. */
  hours_per_point: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1000 })),
}
export const ImportMapping = Type.Object(mapping, { ...closed, title: 'ImportMapping' })
export type ImportMapping = Static<typeof ImportMapping>
export const ImportMappingChange = Type.Partial(Type.Object(mapping), { ...closed, title: 'ImportMappingChange' })
export type ImportMappingChange = Static<typeof ImportMappingChange>

export const Import = Type.Object(
  {
    id: id('imp'),
    source: ImportSource,
    state: ImportState,
    /** What a reading or running import is at. */
    phase: nullable(Type.String()),
    done: Type.Integer(),
    total: Type.Integer(),
    counts: ImportCounts,
    /** The header of the CSV, by position. */
    columns: Type.Array(Type.String()),
    mapping: ImportMapping,
    problem_count: Type.Integer(),
  },
  { ...closed, title: 'Import' },
)
export type Import = Static<typeof Import>

const Key = Type.String({
  minLength: 1,
  maxLength: programLimits.importKey,
  pattern: '^[\\x21-\\x7e]+$',
  'x-message': `must have 1 to ${programLimits.importKey} characters, without spaces`,
})
export const NewImport = Type.Object(
  {
    source: ImportSource,
    /** Of Linear's or GitHub's API; without it, files are uploaded. */
    key: Type.Optional(nullable(Key)),
    /** For `github` with a key, or for a public repository. */
    repository: Type.Optional(
      nullable(
        Type.String({
          maxLength: 200,
          pattern: '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$',
          'x-message': 'must be owner/name',
        }),
      ),
    ),
    /** Address of the API, if it is not the public one. */
    url: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  },
  closed,
)
export type NewImport = Static<typeof NewImport>

export const ImportChange = Type.Object({ mapping: ImportMappingChange }, closed)
export type ImportChange = Static<typeof ImportChange>

export const ImportProblem = Type.Object(
  {
    /** Line of a CSV, or number of an item; null if it concerns no single one. */
    row: nullable(Type.Integer()),
    field: nullable(Type.String()),
    value: nullable(Type.String()),
    message: Type.String(),
  },
  { ...closed, title: 'ImportProblem' },
)
export type ImportProblem = Static<typeof ImportProblem>

/** Where an imported issue comes from. */
export const IssueSource = Type.Object(
  { source: Type.String(), key: nullable(Type.String()), url: nullable(Type.String()) },
  { ...closed, title: 'IssueSource' },
)
export type IssueSource = Static<typeof IssueSource>

/** A name of imported data without login and membership. */
export const Placeholder = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    /** The trackers it was imported from. */
    sources: Type.Array(Type.String()),
    created_at: Timestamp,
  },
  { ...closed, title: 'Placeholder' },
)
export type Placeholder = Static<typeof Placeholder>

const AssignedPlaceholder = Type.Object(
  { user_id: id('usr'), references: Type.Integer() },
  { ...closed, title: 'AssignedPlaceholder' },
)

export const imports = {
  listImports: operation(routes.listImports, {
    summary: 'List imports of the workspace, newest first',
    query: Page,
    returns: { 200: list(Import) },
  }),
  createImport: operation(routes.createImport, {
    summary: 'Create an import; then add files, unless it has a key or a repository',
    body: NewImport,
    returns: { 201: Import },
    errors: ['FILES_NOT_CONFIGURED'],
  }),
  getImport: operation(routes.getImport, {
    summary: 'Get an import with its progress',
    returns: { 200: Import },
  }),
  updateImport: operation(routes.updateImport, {
    summary: 'Change the given parts of the mapping; read the import again to see their effect',
    body: ImportChange,
    returns: { 200: Import },
    errors: ['IMPORT_RUNNING'],
  }),
  deleteImport: operation(routes.deleteImport, {
    summary: 'Delete an import and its files; imported items stay',
    returns: { 204: null },
    errors: ['IMPORT_RUNNING'],
  }),
  addImportFile: operation(routes.addImportFile, {
    summary: 'Add a file to an import; the body is the content',
    query: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }, closed),
    bodyBytes: programLimits.importFileBytes,
    arrivesWithinMinutes: 360,
    returns: { 201: Import },
    errors: ['FILES_NOT_CONFIGURED', 'IMPORT_RUNNING'],
  }),
  readImport: operation(routes.readImport, {
    summary: 'Read the files or the API, propose a mapping and preview the import; nothing is imported',
    returns: { 200: Import },
    errors: ['FILES_NOT_CONFIGURED', 'IMPORT_RUNNING'],
  }),
  startImport: operation(routes.startImport, {
    summary: 'Import what was read; items that an earlier run created are not created again',
    returns: { 200: Import },
    errors: ['FILES_NOT_CONFIGURED', 'IMPORT_RUNNING'],
  }),
  cancelImport: operation(routes.cancelImport, {
    summary: 'Stop an import after the current batch; imported items stay',
    returns: { 200: Import },
  }),
  listImportProblems: operation(routes.listImportProblems, {
    summary: 'List problems of the last preview or run, in their order, up to 1,000',
    query: Page,
    returns: { 200: list(ImportProblem) },
  }),
  listPlaceholders: operation(routes.listPlaceholders, {
    summary: 'List people of imported data who are not members, newest first',
    query: Page,
    returns: { 200: list(Placeholder) },
  }),
  assignPlaceholder: operation(routes.assignPlaceholder, {
    summary: 'Move everything of a placeholder to a member; sends no events',
    body: Type.Object({ user_id: Ref }, closed),
    returns: { 200: AssignedPlaceholder },
  }),
}
