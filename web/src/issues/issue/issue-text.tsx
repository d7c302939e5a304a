import type { Issue } from '@baton/protocol'
import { DescriptionInPlace, TitleInPlace } from '../../ui/text-in-place.tsx'
import { saveDescription } from '../edit/description.ts'
import { editIssues } from '../edit/edit.ts'

export const IssueTitle = ({ issue: { id, title } }: { issue: Issue }) => (
  <TitleInPlace of="Issue" text={title} onSave={(title) => editIssues([id], { title }, 'Renamed')} />
)

export const IssueDescription = ({ issue }: { issue: Issue }) => (
  <DescriptionInPlace
    of="Issue"
    id={issue.id}
    text={issue.description}
    onSave={(description) => saveDescription(issue, description, 'Description saved')}
  />
)
