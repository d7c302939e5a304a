import { useParams } from '@tanstack/react-router'
import { IssueDetail } from './issue-detail.tsx'

export function IssueScreen() {
  const { code } = useParams({ from: '/person/inside/issue/$code' })
  return <IssueDetail code={code} />
}
