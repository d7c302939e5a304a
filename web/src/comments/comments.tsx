import type { Comment } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import { commentsQuery, putComment, type Target } from '../data/comments.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Failed, Skeletons } from '../ui/states.tsx'
import { Composer } from './composer.tsx'
import { useKeepInPlace } from './keep-in-place.ts'
import { Thread } from './thread.tsx'

/** An entry of the activity feed, sorted by time. */
export interface FeedItem {
  at: string
  key: string
  node: ReactNode
}

interface Props extends Target {
  /** Other entries, shown between the comments. */
  others?: FeedItem[]
}

/** The comments on an issue or project, oldest first. */
export function Comments({ others = [], ...target }: Props) {
  const { data: comments, error, refetch } = useQuery(commentsQuery(target))
  return (
    <div className="space-y-3">
      {comments ? (
        byTime(comments, target, others).map(({ key, node }) => <div key={key}>{node}</div>)
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons rows={3} className="px-0" />
      )}
      <NewComment target={target} />
    </div>
  )
}

function byTime(comments: Comment[], target: Target, others: FeedItem[]): FeedItem[] {
  const threads = comments
    .filter(({ parent_comment_id }) => !parent_comment_id)
    .map((root) => ({
      at: root.created_at,
      key: root.id,
      node: (
        <Thread root={root} replies={comments.filter((one) => one.parent_comment_id === root.id)} target={target} />
      ),
    }))
  return [...threads, ...others].sort((a, b) => a.at.localeCompare(b.at))
}

function NewComment({ target }: { target: Target }) {
  const [internal, setInternal] = useState(false)
  const { targetType, targetId } = target
  const ref = useRef<HTMLDivElement>(null)
  useKeepInPlace(ref)
  useCommands([
    {
      id: 'comment.new',
      title: 'Comment',
      section: targetType === 'issue' ? 'Issue' : 'Project',
      keys: 'm',
      run: () => ref.current?.querySelector('textarea')?.focus(),
    },
  ])
  return (
    <div ref={ref}>
      <Composer
        target={target}
        draftKey={`new ${targetId}`}
        label="Comment"
        placeholder={
          target.isPrivate
            ? `Add a comment. Only you see this ${targetType}.`
            : 'Add a comment. Type @ to mention people or agents.'
        }
        action="Comment"
        internal={internal}
        onInternal={setInternal}
        onSend={async (text) => {
          const created = await api.createComment({
            target_type: targetType,
            target_id: targetId,
            text,
            ...(internal && { internal }),
          })
          putComment(created.id, targetId, created)
          setInternal(false)
        }}
      />
    </div>
  )
}
