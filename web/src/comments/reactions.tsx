import type { Comment, ReactionName } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import {
  Eye,
  Heart,
  Laugh,
  type LucideIcon,
  Meh,
  PartyPopper,
  Rocket,
  SmilePlus,
  ThumbsDown,
  ThumbsUp,
} from 'lucide-react'
import type { Target } from '../data/comments.ts'
import { useMe } from '../data/me.ts'
import { react, reactionsQuery } from '../data/reactions.ts'
import { usePeople } from '../data/workspaces.ts'
import { IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { Menu } from '../ui/menu.tsx'
import { Tip } from '../ui/tip.tsx'
import { showError } from '../ui/toast.tsx'

/** In the order of the menu. Icons, because not every system has a font with emoji. */
const reactions: { name: ReactionName; icon: LucideIcon; label: string }[] = [
  { name: 'thumbs_up', icon: ThumbsUp, label: 'Thumbs up' },
  { name: 'thumbs_down', icon: ThumbsDown, label: 'Thumbs down' },
  { name: 'heart', icon: Heart, label: 'Heart' },
  { name: 'celebrate', icon: PartyPopper, label: 'Celebrate' },
  { name: 'laugh', icon: Laugh, label: 'Laugh' },
  { name: 'confused', icon: Meh, label: 'Confused' },
  { name: 'eyes', icon: Eye, label: 'Eyes' },
  { name: 'rocket', icon: Rocket, label: 'Rocket' },
]

/** Names beyond these are counted. */
const namesShown = 8

interface Props {
  comment: Comment
  target: Target
}

/** The reactions on a comment, in the order of the menu, and a function to add or remove one's own. */
function useReactions({ comment, target }: Props) {
  const { data = [] } = useQuery(reactionsQuery(target))
  const { user } = useMe()
  const shown = reactions.flatMap((one) => {
    const found = data.find(({ comment_id, name }) => comment_id === comment.id && name === one.name)
    return found ? [{ ...one, ...found, isMine: found.user_ids.includes(user.id) }] : []
  })
  const toggle = (name: ReactionName) => {
    const isMine = shown.some((one) => one.name === name && one.isMine)
    void react(target, comment.id, name, user.id, !isMine).catch(showError)
  }
  return { shown, toggle, me: user.id }
}

/** The reactions on a comment, each with its count. */
export function Reactions(props: Props) {
  const { shown, toggle, me } = useReactions(props)
  const people = usePeople()
  const namesOf = (ids: string[], count: number) => {
    const names = ids.slice(0, namesShown).map((id) => (id === me ? 'You' : nameOf(people.get(id)?.display_name)))
    return [...names, ...(count > names.length ? [`${count - names.length} more`] : [])].join(', ')
  }
  if (shown.length === 0) return null
  return (
    <div className="-ml-1.5 mt-1.5 flex flex-wrap items-center gap-1">
      {shown.map(({ name, icon: Icon, label, count, user_ids, isMine }) => (
        <Tip key={name} label={`${label}: ${namesOf(user_ids, count)}`}>
          <button
            type="button"
            aria-pressed={isMine}
            aria-label={`${label}, ${count}`}
            onClick={() => toggle(name)}
            className={cx(
              'tabular inline-flex h-6 items-center gap-1 rounded-full border px-2 text-xs hover:bg-hover',
              isMine ? 'border-accent bg-accent-wash text-ink' : 'text-ink-2',
            )}
          >
            <Icon size={13} aria-hidden />
            {count}
          </button>
        </Tip>
      ))}
    </div>
  )
}

/** A menu of all reactions. With a pointer it appears over its comment only, so that a long thread stays calm. */
export function AddReaction(props: Props) {
  const { toggle } = useReactions(props)
  return (
    <Menu
      label="Add reaction"
      trigger={
        <IconButton
          label="Add reaction"
          icon={SmilePlus}
          className="md:opacity-0 md:group-focus-within/comment:opacity-100 md:group-hover/comment:opacity-100"
        />
      }
      items={reactions.map(({ name, icon, label }) => ({ label, icon, onPick: () => toggle(name) }))}
    />
  )
}

const nameOf = (name: string | undefined) => (name ? isolated(name) : 'A former member')
