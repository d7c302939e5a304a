import { useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe } from '../data/me.ts'
import { membersQuery } from '../data/workspaces.ts'
import { Page } from '../ui/layout.tsx'
import { Empty } from '../ui/states.tsx'

interface Props {
  title: string
  /** Why it is restricted, in one sentence. */
  reason?: string
  children?: ReactNode
}

/** Shows its children to owners and admins. Other members see whom to ask instead of an error. */
export function ManagersOnly({ title, reason, children }: Props) {
  const { isManager } = useMe()
  return isManager && children ? children : <Restricted title={title} reason={reason} />
}

function Restricted({ title, reason }: { title: string; reason: string | undefined }) {
  const members = useQuery(membersQuery).data ?? []
  const managers = members.filter(({ role }) => role !== 'member')
  return (
    <Page title={title}>
      <Empty icon={ShieldAlert} title="Owners and admins only">
        {reason && <p>{reason}</p>}
        {managers.length > 0 && (
          <p className="mt-2">
            Ask {managers.length === 1 ? '' : 'one of '}
            <span className="font-medium text-ink">
              {managers
                .slice(0, 5)
                .map(({ display_name }) => display_name)
                .join(', ')}
            </span>
            .
          </p>
        )}
      </Empty>
    </Page>
  )
}
