import { useQuery } from '@tanstack/react-query'
import { rereadKey } from '../data/api.ts'
import { projectFilesQuery } from '../data/files.ts'
import { relatedQuery } from '../data/related.ts'
import { FileSection } from './file-list.tsx'

// In the same chunk: the name of each chunk is part of what the list of issues loads.
export { StorageScreen } from './storage-screen.tsx'

export function IssueFiles({ issueId }: { issueId: string }) {
  const { data } = useQuery(relatedQuery(issueId))
  return <FileSection files={data?.files ?? []} onChange={() => rereadKey('related', issueId)} />
}

export function ProjectFiles({ projectId }: { projectId: string }) {
  const { data = [] } = useQuery(projectFilesQuery(projectId))
  return <FileSection files={data} onChange={() => rereadKey('project-files', projectId)} />
}
