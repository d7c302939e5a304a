import { createStore } from '../ui/store.ts'

const key = 'baton.tour'

export const stepIds = ['board', 'answer', 'stop', 'review', 'delegate'] as const
export type StepId = (typeof stepIds)[number]

export interface TourState {
  /** Deeds before this time do not count. */
  startedAt: string
  /** Done or skipped. */
  over: StepId[]
  done: StepId[]
  isEnded: boolean
}

const fresh = (): TourState => ({ startedAt: new Date().toISOString(), over: [], done: [], isEnded: false })

function stored(): TourState {
  try {
    return { ...fresh(), ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<TourState>) }
  } catch {
    return fresh()
  }
}

/** Of this browser. */
export const tour = createStore<TourState>(stored())

function change(next: TourState) {
  localStorage.setItem(key, JSON.stringify(next))
  tour.set(next)
}

export const startTour = () => change(fresh())
export const endTour = () => change({ ...tour.get(), isEnded: true })

export function finishStep(id: StepId, by: 'deed' | 'skip') {
  const { over, done, ...rest } = tour.get()
  if (over.includes(id) && (by === 'skip' || done.includes(id))) return
  change({ ...rest, over: [...new Set([...over, id])], done: by === 'deed' ? [...done, id] : done })
}
