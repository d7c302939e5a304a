import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { enterWorkspace } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Empty } from '../../ui/states.tsx'

/** The issue was not found. Offers the user's other workspaces. */
export function IssueMissing({ code, wasHere }: { code: string; wasHere: boolean }) {
  const { workspaces, workspace } = useMe()
  const others = workspaces.filter(({ id }) => id !== workspace?.id)
  const searchIn = (id: string) => {
    enterWorkspace(id)
    location.reload()
  }
  return (
    <Empty
      icon={Compass}
      title={wasHere ? `${code} is no longer available` : `${code} was not found`}
      heading="h1"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {!wasHere &&
            others.map(({ id, name }) => (
              <Button key={id} onClick={() => searchIn(id)}>
                Search in <bdi>{name}</bdi>
              </Button>
            ))}
          <Link to="/issues" className={buttonClass('primary')}>
            Go to issues
          </Link>
        </div>
      }
    >
      {wasHere
        ? 'It was deleted or made private.'
        : others.length > 0
          ? `It may have been deleted, or belong to a workspace other than ${isolated(workspace?.name)}.`
          : 'It may have been deleted, or you may not have access to it.'}
    </Empty>
  )
}
