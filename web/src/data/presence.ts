import { api, queries } from './api.ts'
import { instanceQuery } from './instance.ts'

const everyMs = 60_000
const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart', 'focus'] as const

/** Tells the service that the user is active, at most once a minute, so that no notification is mailed meanwhile. */
export async function reportPresence() {
  const { mail } = await queries.fetchQuery(instanceQuery)
  if (!mail) return
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = () => {
    if (document.visibilityState !== 'visible' || Date.now() - reportedAt < everyMs) return
    reportedAt = Date.now()
    // The next sign of the user tries again.
    api.setPresence().catch(() => {})
  }
  for (const sign of signs) window.addEventListener(sign, report, { passive: true, capture: true })
  report()
}
