import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { useStore } from '../ui/store.ts'
import { startTour, tour } from './state.ts'

const Tour = lazy(() => import('./tour.tsx'))

/** The tour of a demo instance, for its viewer; other instances load nothing of it. */
export function DemoTour() {
  const isDemo = useIsDemo()
  const { isEnded } = useStore(tour)
  useCommands(isDemo && isEnded ? [{ id: 'tour.start', title: 'Show the tour', section: 'Help', run: startTour }] : [])
  if (!isDemo || isEnded) return null
  return (
    <Suspense>
      <Tour />
    </Suspense>
  )
}

export function useIsDemo() {
  const { user } = useMe()
  return useQuery(instanceQuery).data?.demo?.email === user.email
}
