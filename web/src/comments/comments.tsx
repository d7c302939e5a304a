import { useQuery } from '@tanstack/react-query'
import { Markdown } from '../ui/markdown.tsx'
import { commentsQuery } from './queries.ts'

interface Props {
  targetType: 'issue' | 'project'
  targetId: string
}

/** What people and agents say about an issue or project. */
export function Comments({ targetType, targetId }: Props) {
  const { data: comments = [] } = useQuery(commentsQuery(targetType, targetId))
  return comments.map(({ id, text }) => <Markdown key={id} text={text} />)
}
