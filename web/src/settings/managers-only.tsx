import { useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import { Page } from '../ui/layout.tsx'
import { Empty } from '../ui/states.tsx'
import { membersQuery } from '../workspaces/queries.ts'

/** A place that only owners and admins may see: says so, and whom to ask. */
export function ManagersOnly({ title, what }: { title: string; what: string }) {
  const members = useQuery(membersQuery).data ?? []
  const managers = members.filter(({ role }) => role !== 'member')
  return (
    <Page title={title}>
      <Empty icon={ShieldAlert} title="This is for owners and admins">
        <p>{what}</p>
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
