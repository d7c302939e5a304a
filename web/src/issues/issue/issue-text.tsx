import type { Issue } from '@baton/protocol'
import { DescriptionInPlace, TitleInPlace } from '../../ui/text-in-place.tsx'
import { editIssues } from '../edit/edit.ts'

export const IssueTitle = ({ issue: { id, title } }: { issue: Issue }) => (
  <TitleInPlace of="Issue" text={title} onSave={(title) => editIssues([id], { title }, 'Renamed')} />
)

export const IssueDescription = ({ issue: { id, description } }: { issue: Issue }) => (
  <DescriptionInPlace
    of="Issue"
    id={id}
    text={description}
    onSave={(description) => editIssues([id], { description }, 'Description saved')}
  />
)
