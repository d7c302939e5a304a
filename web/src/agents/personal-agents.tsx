import type { PersonalAgent } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { personalAgentsQuery } from '../data/agents.ts'
import { api, rereadKey } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { showOverlay } from '../data/overlay.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Menu } from '../ui/menu.tsx'
import { Dot } from '../ui/pill.tsx'
import { showToast } from '../ui/toast.tsx'
import { AsideSection } from './aside-section.tsx'
import { NoModel } from './no-model.tsx'

/** The user's personal agents. Only their owner sees them. */
export function PersonalAgents() {
  const agents = useQuery(personalAgentsQuery)
  const [deleting, setDeleting] = useState<PersonalAgent | null>(null)
  return (
    <AsideSection
      title="Personal agents"
      query={agents}
      action={
        <Button size="sm" icon={Plus} command="create.agent" onClick={() => showOverlay({ name: 'personal-agent' })}>
          New
        </Button>
      }
    >
      <p className="text-xs text-ink-2">
        {agents.data?.length === 0
          ? 'Write instructions and delegate issues to your agent. It works only for you and has your access.'
          : 'They work only for you and have your access.'}
      </p>
      <NoModel className="mt-2" />
      <ul className="divide-y">
        {agents.data?.map((agent) => (
          <Row key={agent.id} agent={agent} onDelete={() => setDeleting(agent)} />
        ))}
      </ul>
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete ${isolated(deleting?.name)}?`}
        action="Delete agent"
        onConfirm={async () => {
          if (!deleting) return
          await api.deletePersonalAgent({ agent_id: deleting.id })
          await rereadKey('agents')
          showToast(`${isolated(deleting.name)} deleted`)
        }}
      >
        <p>
          Its sessions end and its issues are no longer delegated. Assignees and comments stay. This cannot be undone.
        </p>
      </Confirm>
    </AsideSection>
  )
}

function Row({ agent, onDelete }: { agent: PersonalAgent; onDelete: () => void }) {
  const { name, instructions } = agent
  const hasModel = useQuery(instanceQuery).data?.has_model !== false
  return (
    <li className="flex items-start gap-2.5 py-2.5">
      <Avatar agent name={name} size={32} />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          <bdi>{name}</bdi>
        </p>
        <p className="line-clamp-2 text-xs wrap-anywhere text-ink-2">{instructions.trim() || 'No instructions yet'}</p>
        <p className="flex items-center gap-x-1.5 text-xs">
          <Dot tone={hasModel ? 'ok' : 'warn'} />
          <span className={hasModel ? 'text-ink-2' : 'text-warn-ink'}>
            {hasModel ? 'Available' : 'Needs a language model'}
          </span>
        </p>
      </div>
      <Menu
        label={`Actions for ${isolated(name)}`}
        trigger={<IconButton label={`Actions for ${isolated(name)}`} icon={Ellipsis} className="-mr-1.5" />}
        items={[
          { label: 'Edit…', icon: Pencil, onPick: () => showOverlay({ name: 'personal-agent', agent }) },
          { label: 'Delete…', icon: Trash2, danger: true, onPick: onDelete },
        ]}
      />
    </li>
  )
}
