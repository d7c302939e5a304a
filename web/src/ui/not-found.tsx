import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { buttonClass } from './button.tsx'
import { Empty } from './states.tsx'

export const NotFound = () => (
  <Empty
    icon={Compass}
    title="Page not found"
    heading="h1"
    action={
      <Link to="/issues" className={buttonClass('primary')}>
        Go to issues
      </Link>
    }
  >
    It may have been deleted or moved, or it belongs to a workspace you are not in.
  </Empty>
)
