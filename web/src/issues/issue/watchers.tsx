import type { Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Bell, BellOff, Eye, EyeOff } from 'lucide-react'
import { api, rereadKey } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { relatedQuery } from '../../data/related.ts'
import { usePeople } from '../../data/workspaces.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Menu } from '../../ui/menu.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { Tip } from '../../ui/tip.tsx'
import { showError, showToast } from '../../ui/toast.tsx'

const avatarsShown = 4

type State = 'watching' | 'muted' | 'none'
const messages: Record<State, string> = {
  watching: 'You watch this issue',
  muted: 'Muted: only mentions and assignments reach your inbox',
  none: 'You no longer watch this issue',
}

/** Who watches an issue, and a menu to watch or mute it. */
export function Watchers({ issue }: { issue: Issue }) {
  const { data } = useQuery(relatedQuery(issue.id))
  const { user } = useMe()
  const people = usePeople()
  const own = data?.watchers.find(({ user_id }) => user_id === user.id)
  const state: State = own ? (own.muted ? 'muted' : 'watching') : 'none'
  const watching = data?.watchers.filter(({ muted }) => !muted) ?? []
  const set = async (next: State) => {
    try {
      if (next === 'none') await api.unwatchIssue({ issue_id: issue.id })
      else await api.watchIssue({ issue_id: issue.id, muted: next === 'muted' })
      await rereadKey('related', issue.id)
      showToast(messages[next])
    } catch (error) {
      showError(error)
    }
  }
  useCommands([
    {
      id: 'issue.watch',
      title: state === 'watching' ? 'Stop watching' : 'Watch issue',
      section: 'Issue',
      keys: 'shift+w',
      run: () => void set(state === 'watching' ? 'none' : 'watching'),
    },
    { id: 'issue.mute', title: 'Mute issue', section: 'Issue', run: () => void set('muted') },
  ])
  if (!data) return null
  const names = watching.map(({ user_id }) => isolated(people.get(user_id)?.display_name ?? 'A member'))
  const label = { watching: 'Watching', muted: 'Muted', none: 'Watch' }[state]
  const Icon = state === 'muted' ? BellOff : Eye
  return (
    <span className="flex items-center gap-1">
      {watching.length > 0 && (
        <Tip label={names.slice(0, 12).join(', ') + (names.length > 12 ? ` and ${names.length - 12} more` : '')}>
          <span role="img" aria-label={`Watchers: ${names.join(', ')}`} className="flex -space-x-1">
            {names.slice(0, avatarsShown).map((name, index) => (
              <Avatar key={watching[index]?.user_id} name={name} size={16} />
            ))}
            {names.length > avatarsShown && (
              <span className="tabular pl-2 text-xs text-ink-3">+{names.length - avatarsShown}</span>
            )}
          </span>
        </Tip>
      )}
      <Menu
        label="Watch"
        trigger={
          <button
            type="button"
            className="flex h-6 items-center gap-1 rounded px-1.5 text-xs text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Icon size={13} aria-hidden />
            {label}
          </button>
        }
        items={[
          ...(state === 'watching'
            ? []
            : [{ label: state === 'muted' ? 'Unmute' : 'Watch', icon: Bell, onPick: () => void set('watching') }]),
          ...(state === 'muted' ? [] : [{ label: 'Mute', icon: BellOff, onPick: () => void set('muted') }]),
          ...(state === 'none' ? [] : [{ label: 'Stop watching', icon: EyeOff, onPick: () => void set('none') }]),
        ]}
      />
    </span>
  )
}
