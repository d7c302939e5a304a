import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { buttonClass } from './button.tsx'
import { Empty } from './states.tsx'

export const NotFound = () => (
  <Empty
    icon={Compass}
    title="There is nothing at this address"
    action={
      <Link to="/issues" className={buttonClass('primary')}>
        Go to issues
      </Link>
    }
  >
    It may have been deleted, moved, or belong to a workspace you are not in.
  </Empty>
)
