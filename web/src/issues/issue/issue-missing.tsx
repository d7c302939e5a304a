import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { enterWorkspace } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'

/** Not here: perhaps in another workspace of theirs. */
export function IssueMissing({ code, wasHere }: { code: string; wasHere: boolean }) {
  const { workspaces, workspace } = useMe()
  const others = workspaces.filter(({ id }) => id !== workspace?.id)
  const lookIn = (id: string) => {
    enterWorkspace(id)
    location.reload()
  }
  return (
    <Empty
      icon={Compass}
      title={wasHere ? `${code} is gone` : `There is no ${code} here`}
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {!wasHere &&
            others.map(({ id, name }) => (
              <Button key={id} onClick={() => lookIn(id)}>
                Look in {name}
              </Button>
            ))}
          <Link to="/issues" className={buttonClass('primary')}>
            Go to issues
          </Link>
        </div>
      }
    >
      {wasHere
        ? 'It was deleted, or made personal by somebody else.'
        : others.length > 0
          ? `It may have been deleted, or belong to another of your workspaces than ${workspace?.name}.`
          : 'It may have been deleted, or you may not see it.'}
    </Empty>
  )
}
