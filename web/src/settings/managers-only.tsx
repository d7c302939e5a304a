import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe } from '../login/me.ts'
import { Page } from '../ui/layout.tsx'
import { Empty } from '../ui/states.tsx'

/** A screen that only owners and admins can use: everybody else reads who can, instead of an error. */
export function ManagersOnly({ title, children }: { title: string; children: ReactNode }) {
  const { isManager } = useMe()
  if (isManager) return children
  return (
    <Page title={title}>
      <Empty icon={ShieldAlert} title="For owners and admins">
        Ask an owner or admin of this workspace; the members page says who they are.
      </Empty>
    </Page>
  )
}
