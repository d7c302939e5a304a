import { importColumns } from '../imports.ts'
import { exampleId, type SectionWords } from './examples.ts'

const mapping = {
  default_team_id: ['The team of issues that have none in the source', exampleId('team')],
  teams: ['By team of the source: the id of a team here, `create` or `skip`', { Engineering: exampleId('team') }],
  statuses: ['By status of the source; null for the default', { 'In Progress': 'in_progress' }],
  priorities: ['By priority of the source; null for the default', { Highest: 'urgent' }],
  types: ['By type of the source; null for the default', { Bug: 'bug' }],
  users: [
    'By e-mail address, or name where there is none: the id of a member, or null for a placeholder',
    { 'ada@example.com': exampleId('usr') },
  ],
  labels: ['By label of the source: `create` also uses an existing label of that name', { backend: 'create' }],
  columns: ['For CSV: the column of each field, counted from 0', { title: 0, status: 1 }],
  date_order: ['Which comes first in dates such as 03/04/2026; null if the dates show it', null],
  keep_codes: ['Whether issues keep their codes, in teams without other issues', false],
  archived: ['Whether archived issues are imported', true],
  hours_per_point: ['Hours of one estimate point; null skips points', null],
} satisfies SectionWords

const columns: SectionWords = Object.fromEntries(
  importColumns.map((field) => [field, ['Position of its column, from 0; null if there is none', 0]]),
)

/** Imports and placeholders. */
export const imports = {
  Import: {
    id: 'Id of the import',
    source: 'The tracker or format it comes from',
    state: 'How far it is',
    phase: ['What a reading or running import is at; null otherwise', 'issues'],
    done: ['Items of the phase that are done', 500],
    total: ['All items of the phase', 1200],
    counts: 'What the import does, by kind; after a preview and after a run they are the same',
    columns: ['The header of the CSV, by position; empty for JSON', ['Title', 'Status']],
    mapping: 'How values of the source become values here; proposed by reading',
    problem_count: ['Problems of the last preview or run; the first 1,000 are listed', 0],
    key: [
      "A key of Linear's or GitHub's API; stored sealed until the import is read, never returned",
      'lin_api_example',
    ],
    repository: ['The GitHub repository', 'acme/shop'],
    url: ['Address of the API, if it is not the public one', null],
    name: ['Name of the file', 'issues.csv'],
  },
  ImportCounts: {
    teams: 'Teams',
    users: 'People: matched members are unchanged, placeholders are created',
    labels: 'Labels',
    projects: 'Projects',
    milestones: 'Milestones',
    cycles: 'Cycles',
    issues: 'Issues',
    relations: 'Parents, blocks and duplicates',
    comments: 'Comments',
    files: 'Attachments that become files',
  },
  ImportCount: {
    created: ['Created by the import', 12],
    updated: ['Existing ones that get newer data', 0],
    unchanged: ['Existing ones that stay as they are', 3],
    skipped: ['Left out; problems say why', 0],
  },
  ImportMapping: mapping,
  ImportMappingChange: mapping,
  ImportColumns: columns,
  ImportProblem: {
    row: ['Line of the CSV, or number of the item; null if it concerns no single one', 12],
    field: ['The field of the source', 'status'],
    value: ['The value of the source', 'Waiting'],
    message: ['What is wrong, and what the import does', 'is not mapped; the issue gets backlog'],
  },
  IssueSource: {
    source: ['The tracker it was imported from', 'linear'],
    key: ['Its code there', 'OLD-12'],
    url: ['Its address there', 'https://linear.app/acme/issue/OLD-12'],
  },
  Placeholder: {
    id: 'Id of the placeholder',
    display_name: ['The name in the source', 'Grace Hopper'],
    sources: ['The trackers it was imported from', ['linear']],
    created_at: 'When it was imported',
  },
  AssignedPlaceholder: {
    user_id: ['The member who got its items', exampleId('usr')],
    references: ['How many references moved', 42],
  },
  assignPlaceholder: {
    user_id: ['The member who gets its items', exampleId('usr')],
  },
} satisfies Record<string, SectionWords>
