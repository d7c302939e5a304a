import { useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe } from '../data/me.ts'
import { membersQuery } from '../data/workspaces.ts'
import { Page } from '../ui/layout.tsx'
import { Empty } from '../ui/states.tsx'

interface Props {
  title: string
  /** What would be here, in a sentence. */
  what?: string
  children?: ReactNode
}

/** A place that only owners and admins can use: everybody else reads so, and whom to ask, instead of an error. */
export function ManagersOnly({ title, what, children }: Props) {
  const { isManager } = useMe()
  return isManager && children ? children : <Refusal title={title} what={what} />
}

function Refusal({ title, what }: { title: string; what: string | undefined }) {
  const members = useQuery(membersQuery).data ?? []
  const managers = members.filter(({ role }) => role !== 'member')
  return (
    <Page title={title}>
      <Empty icon={ShieldAlert} title="This is for owners and admins">
        {what && <p>{what}</p>}
        {managers.length > 0 && (
          <p className="mt-2">
            Ask {managers.length === 1 ? '' : 'one of them: '}
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
